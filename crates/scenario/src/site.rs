//! The place of a link's law: its line, its packets, and the classes that cross it.

use penstock_law::aqm;

use crate::model::{Group, Scenario};

impl Scenario {
    /// The context of a link when its law is compiled. There is a class for each of [`Scenario::class_names`], and one
    /// more where some flows have none; the contract of a class counts only where its flows cross the link.
    ///
    /// # Panics
    /// If no link has that name.
    pub fn site(&self, link: &str) -> aqm::Context {
        let crosses = |class: &str| {
            let of_class = |group: &&Group| group.class.as_deref() == Some(class);
            let over = |group: &Group| group.forward.iter().chain(&group.backward).any(|name| name == link);
            self.groups.values().filter(of_class).any(over)
        };
        let free = self.groups.values().any(|group| group.class.is_none());
        self.site_among(link, &self.class_names(), free, crosses)
    }

    /// The same from what its caller knows of all groups: the classes, whether some flows have none, and which cross the link.
    pub(crate) fn site_among(
        &self,
        link: &str,
        names: &[&str],
        free: bool,
        crosses: impl Fn(&str) -> bool,
    ) -> aqm::Context {
        let contract = |name: &&str| match self.classes.get(*name).filter(|_| crosses(name)) {
            Some(class) => aqm::Class { floor: class.floor, ceiling: class.ceiling, share: class.share },
            None => aqm::Class::FREE,
        };
        let classes = names.iter().map(contract).chain(free.then_some(aqm::Class::FREE)).collect();
        let line = &self.links[link];
        aqm::Context { rate: line.rate, delay: line.delay, packet: self.packet.wire, classes }
    }
}
