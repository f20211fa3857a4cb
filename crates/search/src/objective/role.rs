//! The purpose of a group of flows, by its name.

/// The purpose of a group of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The law under test: `test`, and names that begin with `test-`.
    Test,
    /// Flows with congestion control that were there before: `incumbent`, and names that begin with `incumbent-`.
    Incumbent,
    /// Any other group: cross traffic.
    Cross,
}

/// The role of the group of that name.
pub fn role(group: &str) -> Role {
    let is = |name: &str| group.strip_prefix(name).is_some_and(|after| after.is_empty() || after.starts_with('-'));
    if is("test") {
        Role::Test
    } else if is("incumbent") {
        Role::Incumbent
    } else {
        Role::Cross
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_goes_by_the_name() {
        assert_eq!((role("test"), role("test-long"), role("tests")), (Role::Test, Role::Test, Role::Cross));
        assert_eq!(
            (role("incumbent"), role("incumbent-2"), role("pulse")),
            (Role::Incumbent, Role::Incumbent, Role::Cross)
        );
    }
}
