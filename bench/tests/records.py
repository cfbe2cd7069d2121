"""Records as a run would leave them."""


def record(name, measure, number, peer=None, store="pg", **fields):
    return {"name": name, "peer": peer or ("BPC" if name.startswith("bpc-") else name), "store": store, "config": "settings",
            "measure": measure, "round": number, "n": 1000, **fields}


def rates(name, measure, values, **fields):
    return [record(name, measure, number, rate=value, **fields) for number, value in enumerate(values, 1)]
