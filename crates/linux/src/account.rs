//! Accounts of programs at the ends of a path: the caller's own account, or one without any rights; root only where
//! it is named.

use std::ffi::CString;
use std::fs;
use std::io;
use std::process::Command;

use nix::unistd::{Gid, Uid, User, getegid, geteuid, getgrouplist};

/// An account that programs run as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name; of one without a name its number.
    pub name: String,
    home: String,
    rights: Rights,
}

/// Rights of this process that a program has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rights {
    /// All of them.
    All,
    /// No capability, and none to be had, with the identity of this process.
    Own,
    /// No capability, and another identity.
    Other { user: u32, group: u32, groups: Vec<u32> },
}

/// Why there is no such account.
#[derive(Debug, thiserror::Error)]
pub enum NoAccount {
    /// Nobody has that name or number.
    #[error("there is no account `{0}` on this machine: write a name of /etc/passwd, or a number")]
    Unknown(String),
    /// The user namespace has no such number.
    #[error("account {0} does not exist in this user namespace: leave out --user, or run as root of the machine")]
    Unmapped(u32),
    /// Only root runs programs as another.
    #[error("only root runs a program as another account (`{0}`): leave out --user")]
    NotRoot(String),
    /// An error of the system.
    #[error("cannot read the list of accounts: {0}")]
    System(#[from] io::Error),
}

/// The account without rights on any system, where there is no account `nobody`.
const NOBODY: u32 = 65_534;

impl Account {
    /// The account of that name or number. Of root it has all rights.
    ///
    /// # Errors
    /// Names the reason why there is none, or why it cannot be taken.
    pub fn named(name: &str) -> Result<Self, NoAccount> {
        let user = User::from_name(name).map_err(io::Error::from)?;
        let number = user.as_ref().map(|user| user.uid.as_raw()).or_else(|| name.parse().ok());
        // All ones is no number of anybody's: it means "leave as it is".
        let number = number.filter(|number| *number != u32::MAX);
        let number = number.ok_or_else(|| NoAccount::Unknown(name.to_owned()))?;
        if number == geteuid().as_raw() {
            let rights = if number == 0 { Rights::All } else { Rights::Own };
            return Self::of(number, None, rights);
        }
        if !geteuid().is_root() {
            return Err(NoAccount::NotRoot(name.to_owned()));
        }
        if !is_mapped("uid", number) {
            return Err(NoAccount::Unmapped(number));
        }
        Self::other(number, None)
    }

    /// The caller: behind `sudo` the account that called that, otherwise this process's own; of root that of nobody.
    ///
    /// # Errors
    /// An error of the system.
    pub fn of_caller() -> Result<Self, NoAccount> {
        let number = |variable: &str| std::env::var(variable).ok().and_then(|text| text.parse::<u32>().ok());
        let caller = number("SUDO_UID").filter(|user| *user != 0 && is_mapped("uid", *user));
        match caller {
            _ if !geteuid().is_root() => Self::of(geteuid().as_raw(), None, Rights::Own),
            Some(user) => Self::other(user, number("SUDO_GID")),
            None => Self::nobody(),
        }
    }

    /// The account without any rights. In a user namespace that has no other this process's own, which there is the caller's.
    ///
    /// # Errors
    /// An error of the system.
    pub fn nobody() -> Result<Self, NoAccount> {
        let user = User::from_name("nobody").map_err(io::Error::from)?.map_or(NOBODY, |user| user.uid.as_raw());
        if !geteuid().is_root() || !is_mapped("uid", user) {
            return Self::of(geteuid().as_raw(), None, Rights::Own);
        }
        Self::other(user, None)
    }

    fn other(user: u32, group: Option<u32>) -> Result<Self, NoAccount> {
        Self::of(user, group, Rights::Other { user, group: NOBODY, groups: Vec::new() })
    }

    fn of(user: u32, group: Option<u32>, mut rights: Rights) -> Result<Self, NoAccount> {
        let known = User::from_uid(Uid::from_raw(user)).map_err(io::Error::from)?;
        let own = known.as_ref().map(|known| known.gid.as_raw()).or(group).unwrap_or(NOBODY);
        let own = if is_mapped("gid", own) { own } else { getegid().as_raw() };
        if let (Rights::Other { group, groups, .. }, Some(known)) = (&mut rights, &known) {
            *group = own;
            if let Ok(name) = CString::new(known.name.as_str()) {
                let all = getgrouplist(&name, Gid::from_raw(own)).map_err(io::Error::from)?;
                groups.extend(all.into_iter().map(Gid::as_raw).filter(|group| is_mapped("gid", *group)));
            }
        } else if let Rights::Other { group, .. } = &mut rights {
            *group = own;
        }
        let (name, home) = known.map_or_else(
            || (user.to_string(), "/".to_owned()),
            |known| (known.name, known.dir.to_string_lossy().into_owned()),
        );
        Ok(Self { name, home, rights })
    }

    /// Rights of this process that its programs have.
    pub(crate) fn rights(&self) -> &Rights {
        &self.rights
    }

    /// Puts the account into a program's environment.
    pub(crate) fn tell(&self, command: &mut Command) {
        command.env("HOME", &self.home).env("USER", &self.name).env("LOGNAME", &self.name);
    }
}

/// Whether this user namespace has that number: `uid` or `gid`.
fn is_mapped(kind: &str, number: u32) -> bool {
    // A kernel without user namespaces has no such file, and every number.
    fs::read_to_string(format!("/proc/self/{kind}_map")).map_or(true, |map| in_map(&map, number))
}

/// Lines of first number inside, first number outside, and how many.
fn in_map(map: &str, number: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_whitespace().map(|word| word.parse::<u64>().unwrap_or(0));
        let (first, count) = (numbers.next().unwrap_or(0), numbers.nth(1).unwrap_or(0));
        (first..first + count).contains(&u64::from(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_user_namespace_are_known() {
        let all = "         0          0 4294967295\n";
        assert!(in_map(all, 0) && in_map(all, NOBODY) && !in_map(all, u32::MAX));
        let one = "         0       1000          1\n";
        assert!(in_map(one, 0) && !in_map(one, 1000) && !in_map(one, NOBODY));
        assert!(in_map("0 1000 1\n1 100000 65536\n", NOBODY));
    }

    #[test]
    fn an_account_is_named_or_numbered() {
        for wrong in ["no such account", "", "-1", "4294967295", "4294967296"] {
            assert!(matches!(Account::named(wrong), Err(NoAccount::Unknown(_))), "{wrong}");
        }
        if !geteuid().is_root() {
            let own = Account::of_caller().unwrap();
            assert_eq!(own.rights, Rights::Own);
            assert!(matches!(Account::named("0"), Err(NoAccount::NotRoot(_))));
            return;
        }
        let root = Account::named("root").unwrap();
        assert_eq!((&root, root.rights()), (&Account::named("0").unwrap(), &Rights::All));
        if is_mapped("uid", 54_321) {
            let nameless = Account::named("54321").unwrap();
            assert_eq!((nameless.name.as_str(), nameless.home.as_str()), ("54321", "/"));
            assert!(
                matches!(nameless.rights, Rights::Other { user: 54_321, group: NOBODY, ref groups } if groups.is_empty())
            );
            let nobody = Account::nobody().unwrap();
            assert!(matches!(nobody.rights, Rights::Other { user: NOBODY, .. }), "{nobody:?}");
        }
    }
}
