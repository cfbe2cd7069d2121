//! Crashes: each durable write fails once "and is not persisted" and once "but is persisted", and the log
//! is cut after every event. Carrying on always leads to the same end.

#[path = "../common/mod.rs"]
mod common;
mod cut;
mod story;

use bpc_eventstore::add_tenant;
use common::{ACTOR, Scene};
use story::{End, Story};

#[derive(Clone, Copy, Debug)]
enum Fails {
    AndNotPersisted,
    ButPersisted,
}

impl Scene {
    /// The story from the beginning, told by a tenant of its own, with the `nth` commit failing.
    async fn tell(&mut self, nth: u32, fails: Fails) -> (End, bool) {
        let slug = format!("t{nth}-{}", if matches!(fails, Fails::ButPersisted) { "but" } else { "and" });
        self.tenant = add_tenant(self.store(), &slug, "Crashing", ACTOR).await.unwrap().tenant_id;
        let fault = self.store().fault.clone();
        match fails {
            Fails::AndNotPersisted => fault.fail_not_persisted(nth),
            Fails::ButPersisted => fault.fail_but_persisted(nth),
        }
        let end = Story::tell(self).await;
        (end, fault.is_spent())
    }
}

bpc_testkit::on_both_databases! {
    async fn whichever_commit_fails_the_end_is_the_same(db) {
        let mut scene = Scene::still(&db).await;
        let expected = Story::tell(&scene).await;
        assert_eq!(expected, End::expected());
        let mut commits = 0;
        'story: loop {
            for fails in [Fails::AndNotPersisted, Fails::ButPersisted] {
                let (end, is_spent) = scene.tell(commits, fails).await;
                assert_eq!(end, expected, "commit {commits} fails {fails:?}");
                // The story has no more commits than this.
                if !is_spent {
                    break 'story;
                }
            }
            commits += 1;
        }
        scene.assert_sound().await;
        assert!(commits >= 10, "only {commits} commits in the story");
    }
}
