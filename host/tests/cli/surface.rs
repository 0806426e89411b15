//! Every command, what it prints and how it ends.

use crate::support::User;

#[test]
fn the_main_job() {
    let user = User::with("2.1.120-tui");
    insta::assert_snapshot!(user.ok(&["init"]));
    insta::assert_snapshot!(user.ok(&["reconcile"]));
    insta::assert_snapshot!(user.ok(&["worker"]));
    insta::assert_snapshot!(user.ok(&["insights"]));
    insta::assert_snapshot!(user.ok(&["patterns"]));
    insta::assert_snapshot!(user.ok(&["status"]));
    insta::assert_snapshot!(user.ok(&["doctor"]));
}
