//! Tiles: which there are, how wide, what they are called.

use bpc_core::tile::TileId;

#[test]
fn a_tree_of_70000_leaves_has_the_tiles_of_the_standards_example() {
    let count =
        |level, full| TileId::all(70_000).filter(|id| id.level == level && id.is_full() == full).count();
    assert_eq!((count(0, true), count(0, false)), (273, 1));
    assert_eq!((count(1, true), count(1, false)), (1, 1));
    assert_eq!((count(2, true), count(2, false)), (0, 1));
    let partial: Vec<_> = TileId::partial(70_000).map(|id| id.to_string()).collect();
    assert_eq!(partial, ["tile/0/273.p/112", "tile/1/001.p/17", "tile/2/000.p/1"]);
    let of_256: Vec<_> = TileId::all(256).map(|id| id.to_string()).collect();
    assert_eq!(of_256, ["tile/0/000", "tile/1/000.p/1"]);
    assert_eq!(TileId::all(0).count(), 0);
}

#[test]
fn paths_are_written_and_read_in_one_spelling() {
    let table = [
        (0, 0, 256, "tile/0/000"),
        (0, 999, 256, "tile/0/999"),
        (0, 1000, 256, "tile/0/x001/000"),
        (1, 1234, 5, "tile/1/x001/234.p/5"),
        (0, 1_234_067, 256, "tile/0/x001/x234/067"),
        (7, 18_446_744_073_709_551, 255, "tile/7/x018/x446/x744/x073/x709/551.p/255"),
        (0, u64::MAX, 1, "tile/0/x018/x446/x744/x073/x709/x551/615.p/1"),
    ];
    for (level, index, width, path) in table {
        let id = TileId { level, index, width };
        assert_eq!(id.to_string(), path);
        assert_eq!(path.parse(), Ok(id));
    }
    let id = TileId { level: 0, index: 1234, width: 5 };
    assert_eq!(id.entries_path().as_deref(), Some("tile/entries/x001/234.p/5"));
    assert_eq!(TileId { level: 1, ..id }.entries_path(), None);
}

#[test]
fn other_spellings_are_not_paths() {
    let table = [
        "",
        "tile",
        "tile/0",
        "tile/0/",
        "tile/0/0",
        "tile/0/0000",
        "tile/0/x000/000",
        "tile/0/001/000",
        "tile/0/x001/x000",
        "tile/0/x1/000",
        "tile/00/000",
        "tile/+1/000",
        "tile/0/+01",
        "tile/8/000",
        "tile/0/000.p/0",
        "tile/0/000.p/256",
        "tile/0/000.p/05",
        "tile/0/000.p/",
        "tile/0/000.p/5/",
        "/tile/0/000",
        "tile/0/000 ",
        "tile/entries/000",
        "tile/0/x999/x999/x999/x999/x999/x999/999",
    ];
    for path in table {
        assert!(path.parse::<TileId>().is_err(), "{path}");
    }
}

#[test]
fn a_hash_is_in_the_tile_as_wide_as_the_tree_makes_it() {
    let id = |level, index, width| Some(TileId { level, index, width });
    assert_eq!(TileId::holding(0, 300, 301), id(0, 1, 45));
    assert_eq!(TileId::holding(0, 300, 300), None);
    assert_eq!(TileId::holding(0, 3, 300), id(0, 0, 256));
    assert_eq!(TileId::holding(1, 0, 255), None);
    assert_eq!(TileId::holding(1, 0, 256), id(1, 0, 1));
    assert_eq!(TileId::holding(7, 0, u64::MAX), id(7, 0, 255));
    assert_eq!(TileId::holding(8, 0, u64::MAX), None);
}
