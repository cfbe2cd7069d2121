#!/usr/bin/env python3
"""Checks an archive of a log without the program that made it.

Written from FORMAT.md and JOB-LIFE.md beside it, and sharing nothing with the program. Needs Python 3.9 or newer, its
standard library, and the programs zstd and openssl (3.0 or newer).

    python3 audit.py ARCHIVE [--key VKEY].. [--checkpoint FILE].. [--witness VKEY].. [--blobs [--blob TYPE:FIELD]..]

Prints one JSON object a finding, and one that sums up. Exits with 0 if the archive is sound, with 1 if there are
findings, with 2 if it cannot be checked.
"""
import argparse, base64, calendar, collections, hashlib, json, pathlib, re, subprocess, sys, tempfile, uuid

EVENTS_PER_SEGMENT, WIDTH = 65536, 256
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.\d{6}Z")
HEX32, HEX64 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{128}")


class Refused(Exception):
    """Something breaks a rule; the first argument is the code."""


def need(holds, code, *more):
    if not holds:
        raise Refused(code, *more)


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


# --- canonical JSON ---

def integer(text):
    need(text != "-0", "JSON_NUMBER_NEGATIVE_ZERO")
    need(len(text) < 18 and abs(int(text)) <= 2**53 - 1, "JSON_NUMBER_OUT_OF_RANGE")
    return int(text)


def refuse_with(code):
    def refuse(_):
        raise Refused(code)
    return refuse


def members(pairs):
    need(len({key for key, _ in pairs}) == len(pairs), "JSON_DUPLICATE_KEY")
    return dict(pairs)


def in_order(value, depth=1):
    nested = isinstance(value, (dict, list))
    need(not nested or depth <= 64, "JSON_TOO_DEEP")
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return {key: in_order(value[key], depth + 1) for key in keys}
    return [in_order(item, depth + 1) for item in value] if nested else value


def canonical(data):
    """The value of bytes that are in their one spelling."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("JSON_INVALID_UNICODE") from None
    try:
        value = json.loads(text, object_pairs_hook=members, parse_int=integer,
                           parse_float=refuse_with("JSON_NUMBER_NOT_INTEGER"),
                           parse_constant=refuse_with("JSON_SYNTAX"))
    except RecursionError:
        raise Refused("JSON_TOO_DEEP") from None
    except ValueError:
        raise Refused("JSON_SYNTAX") from None
    again = json.dumps(in_order(value), separators=(",", ":"), ensure_ascii=False)
    try:
        need(again.encode("utf-8") == data, "JSON_NOT_CANONICAL")
    except UnicodeEncodeError:
        raise Refused("JSON_INVALID_UNICODE") from None
    return value


# --- events ---

ENVELOPE = ["actor", "causation_id", "correlation_id", "event_id", "event_type", "format", "occurred_at", "payload",
            "schema", "stream_id", "stream_type", "tenant_id", "version"]


def is_number(value, most=2**53 - 1, least=0):
    return type(value) is int and least <= value <= most


def is_text(value):
    return isinstance(value, str)


def is_uuid(value):
    return is_text(value) and UUID.fullmatch(value) is not None


def is_time(value):
    found = TIME.fullmatch(value) if is_text(value) else None
    if not found or not value.isascii():
        return False
    year, month, day, hour, minute, second = map(int, found.groups())
    return (1970 <= year and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
            and hour < 24 and minute < 60 and second < 60)


def read_event(data):
    need(len(data) >= 64, "EVENT_TOO_SMALL")
    need(len(data) <= 262144, "EVENT_TOO_LARGE")
    event = canonical(data)
    need(isinstance(event, dict), "EVENT_MALFORMED")
    must = [key for key in ENVELOPE if key not in ("causation_id", "correlation_id")]
    need(all(key in event for key in must) and all(key in ENVELOPE for key in event), "EVENT_MALFORMED")
    uuids = [key for key in event if key.endswith("_id")]
    need(all(is_uuid(event[key]) for key in uuids) and event["format"] == "BPC-EVENT-1", "EVENT_MALFORMED")
    names = event["event_type"], event["stream_type"], event["actor"]
    need(all(map(is_text, names)) and is_time(event["occurred_at"]), "EVENT_MALFORMED")
    need(is_number(event["schema"], 65535, 1) and is_number(event["version"], 2**32 - 1, 1), "EVENT_MALFORMED")
    need(re.fullmatch(r"[A-Z][A-Z0-9_]{0,127}", names[0]), "EVENT_NAME_INVALID")
    need(re.fullmatch(r"[A-Za-z][A-Za-z0-9]{0,127}", names[1]), "EVENT_NAME_INVALID")
    need(1 <= len(names[2].encode()) <= 128, "EVENT_NAME_INVALID")
    need(isinstance(event["payload"], dict), "PAYLOAD_NOT_OBJECT")
    return event


# --- jobs: docs/FORMAT.md, Events of a job, and docs/JOB-LIFE.md ---

def is_count(value):
    return is_number(value, 2**32 - 1)


def is_any(_):
    return True


def is_error(value):
    return is_object(value, {"code": is_text, "detail?": is_text, "message": is_text,
                             "retryable": lambda it: isinstance(it, bool)})


def is_emitted(value):
    one = {"stream_id": is_uuid, "stream_type": is_text, "version": is_count}
    return isinstance(value, list) and all(is_object(item, one) for item in value)


def is_object(value, fields):
    if not isinstance(value, dict):
        return False
    known = {name.rstrip("?"): check for name, check in fields.items()}
    return (set(value) <= set(known) and all(name in value for name in fields if not name.endswith("?"))
            and all(known[name](it) for name, it in value.items()))


def is_small(value):
    return is_number(value, 255)


PAYLOADS = {
    "ENQUEUED": {"idempotency_key?": is_text, "job_type": is_text, "max_attempts": is_count, "payload": is_any,
                 "priority": is_small, "queue": is_text, "scheduled_at": is_time},
    "LEASED": {"attempt": is_count, "lease_expires_at": is_time, "worker_id": is_text},
    "RENEWED": {"lease_expires_at": is_time, "worker_id": is_text},
    "PROGRESSED": {"message?": is_text, "percent": is_small, "step?": is_text},
    "SUCCEEDED": {"duration_ms": is_number, "emitted": is_emitted, "result?": is_any},
    "FAILED": {"attempt": is_count, "error": is_error},
    "RETRY_SCHEDULED": {"delay_ms": is_number, "scheduled_at": is_time},
    "DEAD_LETTERED": {"attempts": is_count},
    "LEASE_EXPIRED": {"worker_id": is_text},
    "RELEASED": {"worker_id": is_text},
    "SNOOZED": {"until": is_time},
    "CANCEL_REQUESTED": {"reason?": is_text},
    "CANCELLED": {"reason?": is_text},
    "REPLAYED": {"actor": is_text, "justification": is_text},
    "RESOLVED": {"actor": is_text, "notes": is_text},
    "STALE_COMPLETION_REFUSED": {"attempt": is_count, "worker_id": is_text},
}
R, C = "RUNNING", "RUNNING, cancel requested"
# What follows from which state.
NEXT = {
    "ENQUEUED": {None: "QUEUED"},
    "LEASED": {"QUEUED": R},
    "RENEWED": {R: R, C: C},
    "PROGRESSED": {R: R, C: C},
    "SUCCEEDED": {R: "SUCCEEDED", C: "SUCCEEDED"},
    "FAILED (retryable)": {R: "FAILING", C: "FAILING"},
    "FAILED (permanent)": {R: "FAILED", C: "FAILED"},
    "RETRY_SCHEDULED": {"FAILING": "QUEUED"},
    "DEAD_LETTERED": {"FAILING": "DEAD_LETTER"},
    "LEASE_EXPIRED (attempts left)": {R: "QUEUED", C: "FAILING"},
    "LEASE_EXPIRED (last attempt)": {R: "FAILING", C: "FAILING"},
    "RELEASED": {R: "QUEUED", C: "QUEUED"},
    "SNOOZED": {R: "QUEUED", C: "QUEUED"},
    "CANCEL_REQUESTED": {R: C, C: C},
    "CANCELLED": {"QUEUED": "CANCELLED", R: "CANCELLED", C: "CANCELLED", "FAILING": "CANCELLED"},
    "REPLAYED": {"FAILED": "QUEUED", "DEAD_LETTER": "QUEUED"},
    "RESOLVED": {"FAILED": "FAILED, resolved", "DEAD_LETTER": "FAILED, resolved"},
}


class Job:
    def __init__(self):
        self.state, self.attempts, self.most, self.worker = None, 0, 0, None

    def take(self, event):
        kind, said = event["event_type"], event["payload"]
        need(event["schema"] == 1 and kind in PAYLOADS and is_object(said, PAYLOADS[kind]), "ILLEGAL_HISTORY")
        if kind == "STALE_COMPLETION_REFUSED":
            return need(self.state is not None, "ILLEGAL_HISTORY")
        row = kind
        if kind == "FAILED":
            row += " (retryable)" if said["error"]["retryable"] else " (permanent)"
        if kind == "LEASE_EXPIRED":
            row += " (attempts left)" if self.attempts < self.most else " (last attempt)"
        need(self.state in NEXT[row], "ILLEGAL_HISTORY")
        if kind == "ENQUEUED":
            self.most = said["max_attempts"]
        if kind == "LEASED":
            need(said["attempt"] == self.attempts + 1, "ILLEGAL_HISTORY")
            self.attempts, self.worker = said["attempt"], said["worker_id"]
        if kind in ("RENEWED", "LEASE_EXPIRED", "RELEASED"):
            need(said["worker_id"] == self.worker, "ILLEGAL_HISTORY")
        if kind in ("FAILED", "DEAD_LETTERED"):
            need(said.get("attempt", said.get("attempts")) == self.attempts, "ILLEGAL_HISTORY")
        self.attempts = {"RELEASED": self.attempts - 1, "SNOOZED": self.attempts - 1, "REPLAYED": 0}.get(
            kind, self.attempts)
        self.state = NEXT[row][self.state]


# --- keys and notes ---

def unbase64(text, code="NOTE_SIGNATURE_MALFORMED"):
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Refused(code) from None
    need(base64.b64encode(data).decode() == text, code)
    return data


def ed25519(public, message, signature):
    if len(signature) != 64:
        return False
    with tempfile.TemporaryDirectory() as at:
        der = bytes.fromhex("302a300506032b6570032100") + public
        for name, data in ("key", der), ("message", message), ("signature", signature):
            pathlib.Path(at, name).write_bytes(data)
        return subprocess.run(
            ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER", "-inkey", f"{at}/key", "-in",
             f"{at}/message", "-sigfile", f"{at}/signature"], capture_output=True).returncode == 0


Key = collections.namedtuple("Key", "name id kind public")


def key_of(name, kind, public):
    return Key(name, sha(name.encode(), b"\n", bytes([kind]), public)[:4], kind, public)


def spelled(key):
    return f"{key.name}+{key.id.hex()}+{base64.b64encode(bytes([key.kind]) + key.public).decode()}"


def read_key(text):
    try:
        name, _, data = text.split("+", 2)
        data = base64.b64decode(data, validate=True)
        key = key_of(name, data[0], data[1:])
    except (ValueError, IndexError):
        raise SystemExit(f"{text} is no key") from None
    if len(data) != 33 or spelled(key) != text:
        raise SystemExit(f"{text} is no key")
    return key


Note = collections.namedtuple("Note", "text lines origin size root")


def read_note(data):
    need(len(data) <= 1000000, "NOTE_TOO_LARGE")
    try:
        note = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("NOTE_NOT_TEXT") from None
    need(all(letter >= " " or letter == "\n" for letter in note), "NOTE_NOT_TEXT")
    text, blank, rest = note.rpartition("\n\n")
    need(blank and rest.endswith("\n"), "NOTE_MALFORMED")
    text, lines = text + "\n", []
    for line in rest[:-1].split("\n"):
        parts = line.split(" ")
        need(len(parts) == 3 and parts[0] == "\u2014", "NOTE_SIGNATURE_MALFORMED")
        name, signature = parts[1], unbase64(parts[2])
        need(name and "+" not in name and not any(map(str.isspace, name)), "NOTE_SIGNATURE_MALFORMED")
        need(len(signature) > 4, "NOTE_SIGNATURE_MALFORMED")
        lines.append((name, signature[:4], signature[4:]))
    need(len(lines) <= 100, "NOTE_TOO_MANY_SIGNATURES")
    parts = text[:-1].split("\n")
    need(len(parts) >= 3 and all(parts), "CHECKPOINT_MALFORMED")
    origin, size, root = parts[:3]
    need(re.fullmatch(r"0|[1-9][0-9]{0,19}", size), "CHECKPOINT_SIZE_INVALID")
    root = unbase64(root, "CHECKPOINT_ROOT_INVALID")
    need(len(root) == 32, "CHECKPOINT_ROOT_INVALID")
    return Note(text, lines, origin, int(size), root)


def signers(note, keys):
    """Keys that signed. A line of a known key that does not hold refuses the note."""
    found = []
    for name, key_id, signature in note.lines:
        for key in keys:
            if (key.name, key.id) != (name, key_id):
                continue
            message = note.text.encode()
            if key.kind == 4:
                at, signature = int.from_bytes(signature[:8], "big"), signature[8:]
                message = f"cosignature/v1\ntime {at}\n".encode() + message
            need(ed25519(key.public, message, signature), "NOTE_SIGNATURE_INVALID")
            found.append(key)
    return found


def by_its_log(note, keys):
    """How the log signed: 1 for the text, 4 for the time."""
    return {key.kind for key in signers(note, keys) if key.name == note.origin}


# --- the keys that speak for the log ---

Epoch = collections.namedtuple("Epoch", "origin public first_size version vouched reopened")


class Keyring:
    def __init__(self):
        self.epochs, self.refused = [], []

    def take(self, event, position):
        said, kind = event["payload"], event["event_type"]
        if kind == "LOG_KEY_ADDED" and not self.epochs:
            fields = {"algorithm": is_text, "origin": is_text, "public_key": is_text}
            if is_object(said, fields):
                self.epochs.append(Epoch(said["origin"], said["public_key"], 0, event["version"], True, None))
            else:
                self.refused.append(event["version"])
        elif kind == "LOG_KEY_ROTATED":
            fields = dict.fromkeys(("algorithm", "origin", "previous_key", "public_key", "signature"), is_text)
            before = self.epochs[-1] if self.epochs else None
            if (before and is_object(said, fields)
                    and (said["previous_key"], said["origin"]) == (before.public, before.origin)
                    and self.vouches(before, said)):
                self.epochs.append(
                    Epoch(said["origin"], said["public_key"], position + 1, event["version"], True, None))
            else:
                self.refused.append(event["version"])
        elif kind == "LOG_REOPENED":
            fields = dict.fromkeys(("algorithm", "checkpoint", "origin", "previous_key?", "public_key", "root",
                                    "signature?"), is_text)
            if is_object(said, {**fields, "size": is_number}):
                before = self.epochs[-1] if self.epochs else None
                vouched = bool(before and said.get("previous_key") == before.public and "signature" in said
                               and self.vouches(before, said))
                self.epochs.append(
                    Epoch(said["origin"], said["public_key"], position + 1, event["version"], vouched, said))
            else:
                self.refused.append(event["version"])

    @staticmethod
    def vouches(before, said):
        text = f"BPC-KEY-HANDOVER-1\n{said['origin']}\n{before.public}\n{said['public_key']}\n"
        try:
            return ed25519(bytes.fromhex(before.public), text.encode(), bytes.fromhex(said["signature"]))
        except ValueError:
            return False

    @staticmethod
    def keys(epoch):
        if not HEX32.fullmatch(epoch.public):
            return []
        return [key_of(epoch.origin, kind, bytes.fromhex(epoch.public)) for kind in (1, 4)]

    def at_size(self, size):
        held = [epoch for epoch in self.epochs if epoch.first_size <= size]
        return self.keys(held[-1]) if held else []


# --- the tree ---

def tree(leaves):
    """The hashes of every level of tiles: each is the root over a full tile of the level below."""
    levels = [leaves]
    while len(levels[-1]) >= WIDTH:
        below = levels[-1]
        levels.append([root(below[at:at + WIDTH]) for at in range(0, len(below) - WIDTH + 1, WIDTH)])
    return levels


def root(leaves):
    if len(leaves) < 2:
        return leaves[0] if leaves else sha()
    half = 1 << (len(leaves) - 1).bit_length() - 1
    return sha(b"\x01", root(leaves[:half]), root(leaves[half:]))


def tile_path(level, index, width):
    groups, above = [f"{index % 1000:03}"], index // 1000
    while above:
        groups.insert(0, f"x{above % 1000:03}")
        above //= 1000
    return f"tile/{level}/" + "/".join(groups) + ("" if width == WIDTH else f".p/{width}")


# --- segments ---

def segment_path(first, events):
    name = f"segments/{first // EVENTS_PER_SEGMENT:08}"
    return name + (".jsonl.zst" if events == EVENTS_PER_SEGMENT else f".partial-{events}.jsonl.zst")


def unzstd(data):
    return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True)


def skippable(magic, frame):
    start = bytes.fromhex(magic)[::-1] + (len(frame) - 8).to_bytes(4, "little")
    need(len(frame) >= 8 and frame[:8] == start, "SEGMENT_MALFORMED")
    return frame[8:]


def read_segment(data, first, events):
    """Frames of events, and the hashes before events whose predecessor is in an earlier segment."""
    bad = "SEGMENT_MALFORMED"
    need(len(data) >= 9 and data[-4:] == bytes.fromhex("8F92EAB1")[::-1] and data[-5] == 0, bad)
    count = int.from_bytes(data[-9:-5], "little")
    table_at = len(data) - (8 + 8 * count + 9)
    need(3 <= count <= 258 and table_at >= 0, bad)
    table, frames, at = skippable("184D2A5E", data[table_at:]), [], 0
    for entry in range(count):
        packed, raw = (int.from_bytes(table[8 * entry + part:8 * entry + part + 4], "little") for part in (0, 4))
        frames.append((data[at:at + packed], raw))
        at += packed
    need(at == table_at, bad)
    header = skippable("184D2A50", frames.pop()[0])
    need(header == json.dumps({"events": events, "first": first, "format": "BPC-SEGMENT-1"},
                              separators=(",", ":")).encode(), bad)
    entries, previous = skippable("184D2A51", frames.pop()[0]), {}
    need(len(entries) % 34 == 0 and len(frames) == -(-events // WIDTH), bad)
    for entry in range(0, len(entries), 34):
        index = int.from_bytes(entries[entry:entry + 2], "little")
        need(index < events and (not previous or index > max(previous)), bad)
        previous[index] = entries[entry + 2:entry + 34]
    return frames, previous


def read_frames(frames, first, events):
    """Lists of event_bytes, one a frame, and the first positions of frames that are damaged."""
    def lines_of(raw, number):
        lines = raw.split(b"\n")
        return lines[:-1] if lines[-1] == b"" and len(lines) - 1 == min(WIDTH, events - number * WIDTH) else None

    whole = unzstd(b"".join(packed for packed, _ in frames))
    found, damaged, at = [], [], 0
    if whole.returncode == 0 and len(whole.stdout) == sum(raw for _, raw in frames):
        for number, (_, raw) in enumerate(frames):
            found.append(lines_of(whole.stdout[at:at + raw], number))
            at += raw
    else:
        for number, (packed, raw) in enumerate(frames):
            one = unzstd(packed)
            is_right = one.returncode == 0 and len(one.stdout) == raw
            found.append(lines_of(one.stdout, number) if is_right else None)
    for number, lines in enumerate(found):
        if lines is None:
            damaged.append(first + number * WIDTH)
    return found, damaged


# --- the whole ---

# Fields that hold the hash of a blob, as the tables of the packs mark them.
BLOBS = [
    ("FACTS_PARSED", "stated"), ("DOCUMENT_REJECTED", "report"), ("SNAPSHOT_SEALED", "facts"),
    ("SNAPSHOT_SEALED", "snapshot_hash"), ("RULES_ADDED", "sources"), ("TESTS_RUN", "report"),
    ("PASSPORT_COMPILED", "payload_hash"), ("PASSPORT_COMPILED", "proof"), ("PASSPORT_COMPILED", "public"),
    ("PASSPORT_COMPILED", "receipt_hash"), ("PASSPORT_SIGNED", "credential"), ("QR_GENERATED", "png"),
    ("QR_GENERATED", "link_png"), ("WEBHOOK_DELIVERED", "body_sha256")]
LEVELS = {"HISTORY_REWRITTEN": "L2", "LOG_TRUNCATED": "L2", "WITNESS_MISSING": "L3"}
OF_EVENTS = ("JSON_", "EVENT_", "PAYLOAD_", "VERSION_", "STREAM_", "HASH_", "ILLEGAL_")


class Audit:
    def __init__(self, directory):
        self.directory, self.findings = pathlib.Path(directory), []
        self.keyring, self.streams, self.leaves = Keyring(), {}, []
        self.blob_fields, self.blobs_named, self.is_broken = list(BLOBS), {}, False

    def find(self, code, level=None, **where):
        level = level or LEVELS.get(code) or ("L0" if code.startswith(OF_EVENTS) else "L1")
        finding = {"code": code, "level": level, **where}
        if finding not in self.findings:
            self.findings.append(finding)

    def read(self, file):
        try:
            return (self.directory / file).read_bytes()
        except OSError:
            return None

    def manifest(self):
        data = self.read("manifest.json")
        need(data is not None, "ARCHIVE_MISSING")
        bad = "ARCHIVE_MANIFEST_INVALID"
        need(data.endswith(b"\n"), bad)
        try:
            manifest = canonical(data[:-1])
        except Refused:
            raise Refused(bad) from None

        def is_list(check):
            return lambda value: isinstance(value, list) and all(map(check, value))

        def is_hash(value):
            return is_text(value) and HEX32.fullmatch(value) is not None

        def is_segment(value):
            return is_object(value, {"bytes": is_number, "events": is_number, "file": is_text, "first": is_number,
                                     "last": is_number, "sha256": is_hash})

        def is_blobs(value):
            return is_object(value, {"count": is_number, "file": is_text, "sha256": is_hash})

        need(is_object(manifest, {
            "blobs?": is_blobs, "checkpoints": is_list(is_number), "format": lambda it: it == "BPC-ARCHIVE-1",
            "keys": is_list(is_text), "origin": is_text, "segments": is_list(is_segment), "size": is_number}), bad)
        following = 0
        for segment in manifest["segments"]:
            first, events = segment["first"], segment["events"]
            is_last = first + events == manifest["size"]
            need(first == following and segment["last"] == first + events - 1, bad)
            need(0 < events <= EVENTS_PER_SEGMENT and (events == EVENTS_PER_SEGMENT or is_last), bad)
            need(segment["file"] == segment_path(first, events), bad)
            following += events
        sizes = manifest["checkpoints"]
        need(following == manifest["size"] == (sizes[-1] if sizes else 0), bad)
        need(all(a < b for a, b in zip(sizes, sizes[1:])), bad)
        blobs = manifest.get("blobs")
        need(not blobs or blobs["file"] == f"blobs/{blobs['sha256']}.sha256", bad)
        return manifest

    def segment(self, entry):
        first, events, file = entry["first"], entry["events"], entry["file"]
        nothing = [[None] * min(WIDTH, events - at) for at in range(0, events, WIDTH)]
        data = self.read(file)
        try:
            need(data is not None, "SEGMENT_UNREADABLE")
            frames, previous = read_segment(data, first, events)
            need(len(data) == entry["bytes"], "SEGMENT_MALFORMED")
        except Refused as refused:
            self.find(refused.args[0], file=file)
            self.is_broken = True
            return nothing, {}
        found, damaged = read_frames(frames, first, events)
        for position in damaged:
            self.find("SEGMENT_FRAME_DAMAGED", file=file, position=position)
            self.is_broken = True
        if hashlib.sha256(data).hexdigest() != entry["sha256"]:
            self.find("SEGMENT_MALFORMED", file=file)
            self.is_broken = True
        return [lines or gone for lines, gone in zip(found, nothing)], previous

    def events(self, manifest):
        own = self.log_stream()
        for entry in manifest["segments"]:
            frames, previous = self.segment(entry)
            seen, position = set(), entry["first"]
            for data in (line for lines in frames for line in lines):
                if data is None:
                    self.leaves.append(None)
                else:
                    self.event(data, position, previous.pop(position - entry["first"], None), seen, own)
                position += 1

    @staticmethod
    def log_stream():
        digest = hashlib.sha256()
        for part in (b"BPC-ID-1", b"log", b"log"):
            digest.update(len(part).to_bytes(8, "big") + part)
        raw = bytearray(digest.digest()[:16])
        raw[6], raw[8] = raw[6] & 0x0F | 0x80, raw[8] & 0x3F | 0x80
        return str(uuid.UUID(bytes=bytes(raw)))

    def event(self, data, position, claimed, seen, own):
        try:
            event = read_event(data)
        except Refused as refused:
            self.find(refused.args[0], position=position)
            self.leaves.append(None)
            return
        stream, version = event["stream_id"], event["version"]
        where = {"position": position, "stream": stream, "version": version}
        about = event["stream_type"], event["tenant_id"]
        state = self.streams.get(stream)
        if state is None:
            state = self.streams[stream] = {"version": 0, "hash": bytes(32), "about": about, "job": Job(),
                                            "last": (0, bytes(32)), "doubled": False}
        is_next, follows = version == state["version"] + 1, version == state["last"][0] + 1
        is_doubled = version <= state["version"]
        before = state["last"][1] if follows else bytes(32) if version == 1 else claimed or bytes(32)
        is_claimed = stream not in seen and version > 1
        seen.add(stream)
        if not is_next or self.is_broken and claimed not in (None, state["hash"]):
            state["job"] = None
        if not is_next:
            # Of a stretch that is there twice only the first is told.
            if not self.is_broken and not (is_doubled and state["doubled"] and follows):
                self.find("VERSION_DUPLICATE" if is_doubled else "VERSION_GAP", **where)
        elif (claimed is not None) != is_claimed or claimed not in (None, state["hash"]):
            if not self.is_broken:
                self.find("HASH_MISMATCH", **where)
        elif about != state["about"]:
            self.find("STREAM_MIXED", **where)
        if self.is_broken and claimed is not None:
            before = claimed
        digest = sha(before, data)
        if is_next and event["stream_type"] == "Job" and state["job"]:
            try:
                state["job"].take(event)
            except Refused as refused:
                self.find(refused.args[0], **where)
                state["job"] = None
        if stream == own:
            self.keyring.take(event, position)
        state.update(last=(version, digest), doubled=is_doubled)
        if not is_doubled:
            state.update(version=version, hash=digest, about=about)
        for name, length in blobs_in(event["payload"]) + self.declared(event):
            self.blobs_named.setdefault((name, length), where)
        place = f"{event['stream_type']}:{stream}\n{version}\n{digest.hex()}\n"
        self.leaves.append((sha(b"\x00", place.encode()), where))

    def declared(self, event):
        """Blobs in fields that a pack says hold their hashes."""
        fields = [field for kind, field in self.blob_fields if kind == event["event_type"]]
        found = [event["payload"].get(field) for field in fields]
        found = [hash for value in found for hash in (value if isinstance(value, list) else [value])]
        known = [name for name, _ in blobs_in(event["payload"])]
        return [(hash, None) for hash in found if is_text(hash) and HEX32.fullmatch(hash) and hash not in known]

    def tiles(self, manifest, roots):
        """Compare leaves with tiles, and tiles with each other. Returns the leaves as the tiles have them."""
        size = manifest["size"]
        stored, wrong, level = [], [], 0
        while size >> 8 * level:
            hashes = []
            for at in range(0, size >> 8 * level, WIDTH):
                width = min(WIDTH, (size >> 8 * level) - at)
                path = tile_path(level, at // WIDTH, width)
                data = self.read(path)
                if data is None or len(data) != 32 * width:
                    self.find("TILE_MISSING", tile=path)
                    hashes += [None] * width
                else:
                    hashes += [data[32 * one:32 * one + 32] for one in range(width)]
            stored.append(hashes)
            level += 1
        of_events = [leaf and leaf[0] for leaf in self.leaves]
        are_events_right = None not in of_events and root(of_events) in roots
        truth = [mine if are_events_right or theirs is None else theirs
                 for mine, theirs in zip(of_events, stored[0] if stored else [])]
        if are_events_right:
            wrong = [(0, at) for at, (mine, theirs) in enumerate(zip(of_events, stored[0])) if theirs not in (None, mine)]
        else:
            strays = set()
            for leaf, theirs in zip(self.leaves, truth):
                if leaf and theirs is not None and leaf[0] != theirs and leaf[1]["stream"] not in strays:
                    strays.add(leaf[1]["stream"])
                    self.find("LEAF_MISMATCH", **leaf[1])
        truth = [leaf or bytes(32) for leaf in truth]
        for above, made in list(enumerate(tree(truth)))[1:]:
            theirs = stored[above] if above < len(stored) else []
            wrong += [(above, at) for at, (a, b) in enumerate(zip(made, theirs)) if b not in (None, a)]
        for above, at in wrong:
            width = min(WIDTH, (size >> 8 * above) - at // WIDTH * WIDTH)
            self.find("TILE_MISMATCH", tile=tile_path(above, at // WIDTH, width))
        return truth

    def notes(self, manifest):
        found = []
        for size in manifest["checkpoints"] + [None]:
            file = "checkpoint" if size is None else f"checkpoints/{size}"
            where = {"file": file} if size is None else {"file": file, "checkpoint": size}
            data = self.read(file)
            try:
                need(data is not None, "CHECKPOINT_MISSING")
                note = read_note(data)
            except Refused as refused:
                self.find(refused.args[0], **where)
                continue
            if size in (None, note.size):
                found.append((note, file))
            else:
                self.find("CHECKPOINT_MISMATCH", file=file)
        return found

    def check_notes(self, notes, roots):
        up_to = 0
        for note, file in notes:
            where = {"file": file, "checkpoint": note.size}
            try:
                kinds = by_its_log(note, self.keyring.at_size(note.size))
                need(1 in kinds, "CHECKPOINT_KEY_UNKNOWN")
                if 4 not in kinds:
                    self.find("CHECKPOINT_NOT_TIMED", **where)
                need(note.size in roots, "CHECKPOINT_AHEAD")
                if roots[note.size] == note.root:
                    up_to = max(up_to, note.size)
                else:
                    self.find("CHECKPOINT_MISMATCH", position=up_to, **where)
            except Refused as refused:
                self.find(refused.args[0], **where)
        return up_to

    def check_keys(self, known, roots):
        for version in self.keyring.refused:
            self.find("KEY_HANDOVER_INVALID", stream=self.log_stream(), version=version)
        spelled_out = [[spelled(key) for key in self.keyring.keys(epoch)][:1] for epoch in self.keyring.epochs]
        given = [spelled(key) for key in known]
        begins = [at for at, keys in enumerate(spelled_out) if any(key in given for key in keys)]
        if known and not begins:
            self.find("KEY_NOT_KNOWN")
        for at, epoch in enumerate(self.keyring.epochs):
            if epoch.reopened is None or at <= (begins[0] if begins else 0):
                continue
            where = {"stream": self.log_stream(), "version": epoch.version, "position": epoch.first_size - 1}
            if not epoch.vouched and not any(key in given for key in spelled_out[at]):
                self.find("KEY_NOT_VOUCHED", **where)
            size = epoch.reopened["size"]
            if epoch.first_size != size + 1 or size in roots and roots[size].hex() != epoch.reopened["root"]:
                self.find("REOPENED_ELSEWHERE", **where)

    def check_kept(self, kept, known, roots):
        for note in kept:
            keys = [key for epoch in self.keyring.epochs if epoch.origin == note.origin
                    for key in self.keyring.keys(epoch)] + known
            try:
                need(1 in by_its_log(note, keys), "CHECKPOINT_KEY_UNKNOWN")
                need(note.size in roots, "LOG_TRUNCATED")
                need(roots[note.size] == note.root, "HISTORY_REWRITTEN")
            except Refused as refused:
                self.find(refused.args[0], level="L2", checkpoint=note.size)

    def check_witnesses(self, witnesses, notes, roots):
        for witness in witnesses:
            held = False
            for note in notes:
                try:
                    if signers(note, [witness]):
                        need(roots.get(note.size) == note.root, "HISTORY_REWRITTEN")
                        held = True
                except Refused as refused:
                    self.find(refused.args[0], level="L3", checkpoint=note.size)
            if not held:
                self.find("WITNESS_MISSING")

    def check_manifest(self, manifest, notes):
        keys = [spelled(key) for epoch in self.keyring.epochs for key in self.keyring.keys(epoch)[:1]]
        newest = [note for note, _ in notes if note.size == manifest["size"]]
        if manifest["keys"] != keys or newest and newest[-1].origin != manifest["origin"]:
            self.find("MANIFEST_MISMATCH", file="manifest.json")

    def check_blobs(self, manifest):
        listed, blobs = set(), manifest.get("blobs")
        if blobs:
            data = self.read(blobs["file"]) or b""
            names = re.findall(rb"([0-9a-f]{64})  blobs/[0-9a-f]{2}/[0-9a-f]{64}\n", data)
            names = sorted({name.decode() for name in names})
            again = "".join(f"{name}  blobs/{name[:2]}/{name}\n" for name in names)
            is_right = again.encode() == data and len(names) == blobs["count"]
            if not is_right or hashlib.sha256(data).hexdigest() != blobs["sha256"]:
                return self.find("BLOB_LIST_MISMATCH", file=blobs["file"])
            listed = set(names)
        lengths = {}
        for name in sorted(listed):
            file = f"blobs/{name[:2]}/{name}"
            data = self.read(file)
            lengths[name] = None if data is None else len(data)
            if data is None:
                self.find("BLOB_MISSING", file=file)
            elif hashlib.sha256(data).hexdigest() != name:
                self.find("BLOB_MISMATCH", file=file)
        for (name, length), where in self.blobs_named.items():
            if name not in listed:
                self.find("BLOB_MISSING", **where)
            elif length is not None and lengths[name] not in (None, length):
                self.find("BLOB_LENGTH_MISMATCH", **where)
        return None


def blobs_in(payload):
    """Every object with a sha256 and a length names a blob."""
    if isinstance(payload, list):
        return [blob for item in payload for blob in blobs_in(item)]
    if not isinstance(payload, dict):
        return []
    found = [blob for item in payload.values() for blob in blobs_in(item)]
    name, length = payload.get("sha256"), payload.get("length")
    if is_text(name) and HEX32.fullmatch(name) and is_number(length):
        found.append((name, length))
    return found


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Check an archive of a log without the program that made it")
    parser.add_argument("archive")
    parser.add_argument("--key", action="append", default=[], type=read_key)
    parser.add_argument("--checkpoint", action="append", default=[])
    parser.add_argument("--witness", action="append", default=[], type=read_key)
    parser.add_argument("--blobs", action="store_true")
    parser.add_argument("--blob", action="append", default=[], metavar="EVENT_TYPE:FIELD")
    asked = parser.parse_args(arguments)
    audit = Audit(asked.archive)
    audit.blob_fields += [tuple(blob.split(":", 1)) for blob in asked.blob]
    try:
        kept = [read_note(pathlib.Path(file).read_bytes()) for file in asked.checkpoint]
        manifest = audit.manifest()
    except (Refused, OSError) as error:
        print(json.dumps({"code": error.args[0], "sound": False}))
        return 2
    notes = audit.notes(manifest)
    audit.events(manifest)
    leaves = audit.tiles(manifest, {note.root for note, _ in notes if note.size == manifest["size"]})
    reopened = [epoch.reopened["size"] for epoch in audit.keyring.epochs if epoch.reopened]
    wanted = [note.size for note, _ in notes] + [note.size for note in kept] + reopened
    roots = {size: root(leaves[:size]) for size in set(wanted) if size <= len(leaves)}
    audit.check_manifest(manifest, notes)
    audit.check_keys(asked.key, roots)
    up_to = audit.check_notes(notes, roots)
    audit.check_kept(kept, asked.key, roots)
    audit.check_witnesses(asked.witness, [note for note, _ in notes] + kept, roots)
    if asked.blobs:
        audit.check_blobs(manifest)
    for finding in audit.findings:
        print(json.dumps(finding))
    print(json.dumps({"sound": not audit.findings, "events": manifest["size"], "streams": len(audit.streams),
                      "up_to_position": up_to}))
    return 1 if audit.findings else 0


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    sys.exit(main())
