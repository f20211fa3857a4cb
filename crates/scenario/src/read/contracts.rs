//! `[classes]`, `[customers]` and `[stop]`: statements about several flows together.

use indexmap::IndexMap;
use penstock_law::conditioner::{self, Conditioner};
use penstock_law::quantity::Rate;

use super::error::{Reported, offer};
use super::law;
use super::table::{Fields, Item};
use crate::format::{self, CHANCE};
use crate::model::{Chosen, Class, Customer, Group, Packet, StopRule};
use crate::quantity::print_rate;

/// The tables that these are read against; none of those that could not be read themselves.
pub(super) struct Together<'a> {
    pub(super) fields: &'a Fields<'a>,
    pub(super) groups: Option<&'a [(String, Item<'a>, Group)]>,
    pub(super) packet: Option<Packet>,
}

impl Together<'_> {
    /// Reads `[classes]`, and holds the groups' classes against it.
    pub(super) fn classes(&self) -> Result<IndexMap<String, Class>, Reported> {
        let Some(section) = self.fields.find("classes") else { return Ok(IndexMap::new()) };
        let remedy = "write one table a class, as in `[classes.udp]`";
        let before = section.errors.count();
        let entries = section.entries(remedy)?;
        if entries.is_empty() && section.errors.count() == before {
            return Err(section.wrong("no classes", remedy));
        }
        let known: Vec<_> = entries.iter().map(|(name, _)| *name).collect();
        let read = entries.iter().map(|(name, item)| {
            let class = class(item);
            let is_used = |groups: &[(String, Item<'_>, Group)]| {
                groups.iter().any(|(_, _, group)| group.class.as_deref() == Some(*name))
            };
            if !self.groups.is_none_or(is_used) {
                return Err(item.wrong(
                    format!("no flow has the class `{name}`"),
                    format!("write `class = \"{name}\"` in a group of flows, or leave the class out"),
                ));
            }
            Ok(((*name).to_owned(), class?))
        });
        let classes: IndexMap<String, Class> = section.errors.each(before, read)?.into_iter().collect();
        let shares: f64 = classes.values().filter_map(|class: &Class| class.share).sum();
        // Shares such as 0.1, 0.2 and 0.7 are a whole but for rounding.
        if shares > 1.0 + 1e-9 {
            return Err(section.wrong(
                format!("the shares of the classes add up to {shares}"),
                "write shares of one whole: together at most 1",
            ));
        }
        for (_, item, group) in self.groups.into_iter().flatten() {
            if let Some(name) = group.class.as_deref().filter(|name| !known.contains(name)) {
                let class = item.entry("class").unwrap_or_else(|| item.clone());
                class.wrong(format!("no class is named `{name}`"), offer(name, &known, "class"));
            }
        }
        Ok(classes)
    }

    /// Reads `[customers]`.
    pub(super) fn customers(&self) -> Result<IndexMap<String, Customer>, Reported> {
        let Some(section) = self.fields.find("customers") else { return Ok(IndexMap::new()) };
        // A group that cannot be read has a name nevertheless.
        let flows = self.fields.find("flows").and_then(|flows| flows.node.table());
        let known: Vec<&str> = flows.into_iter().flat_map(|flows| flows.keys()).map(String::as_str).collect();
        let before = section.errors.count();
        let entries = section.entries("write one table a customer, as in `[customers.C1]`")?;
        if entries.is_empty() && section.errors.count() == before {
            return Err(section.wrong("no customers", "write one table a customer, as in `[customers.C1]`"));
        }
        let mut taken: Vec<(&str, &str)> = Vec::new();
        let read = entries.into_iter().map(|(name, item)| {
            let fields = item.fields(&format::CUSTOMER, "write a table, as in `[customers.C1]`")?;
            let conditioner = fields.find("conditioner").map(|item| conditioner(&item, self.packet)).transpose();
            let remedy = "write the names of groups of flows, as in `flows = [\"ftp\"]`";
            let list = fields.need("flows", remedy)?;
            let member = |item: Item<'_>| {
                let group = item.name(remedy)?;
                let Some(group) = known.iter().find(|known| **known == group) else {
                    let found = format!("no group of flows is named `{group}`");
                    return Err(item.wrong(found, offer(group, &known, "group of flows")));
                };
                if let Some((_, other)) = taken.iter().find(|(taken, _)| taken == group) {
                    return Err(item.wrong(
                        format!("`{group}` belongs to the customer `{other}` already"),
                        "let each group belong to one customer, once",
                    ));
                }
                taken.push((group, name));
                Ok((*group).to_owned())
            };
            let members = list.list(remedy)?;
            let flows = list.errors.each(list.errors.count(), members.into_iter().map(member))?;
            if flows.is_empty() {
                return Err(list.wrong("a customer without flows", remedy));
            }
            Ok((name.to_owned(), Customer { flows, conditioner: conditioner? }))
        });
        Ok(section.errors.each(before, read)?.into_iter().collect())
    }

    /// Reads `[stop]`.
    pub(super) fn stop(&self) -> Result<Option<StopRule>, Reported> {
        let Some(item) = self.fields.find("stop") else { return Ok(None) };
        let remedy = "write `when = \"transfers complete\"`";
        let fields = item.fields(&format::STOP, remedy)?;
        let when = fields.need("when", remedy)?;
        let rule = when.choice()?;
        let (Some(groups), Some(packet)) = (self.groups, self.packet) else { return Ok(Some(rule)) };
        let completes = |group: &Group| group.ends() && group.requirements(packet).is_ok_and(|needs| needs.reliable);
        let StopRule::TransfersComplete = rule;
        if groups.iter().any(|(_, _, group)| completes(group)) {
            return Ok(Some(rule));
        }
        Err(when.wrong(
            "no transfer is ever complete",
            "give a group of flows a `size` and neither `arrivals` nor `idle`, or leave `[stop]` out",
        ))
    }
}

fn class(item: &Item<'_>) -> Result<Class, Reported> {
    let fields = item.clone().fields(&format::CLASS, "write a table, as in `[classes.udp]`")?;
    let floor = fields.or("floor", Rate(0), |item| item.rate());
    let ceiling = fields.find("ceiling").filter(|item| item.as_text() != Some("unlimited"));
    let ceiling = ceiling.map(|item| {
        let ceiling = item.rate()?;
        if ceiling.0 == 0 {
            return Err(item.wrong("a class that may have nothing", "write a rate above zero, or `unlimited`"));
        }
        match floor.ok().filter(|floor| ceiling < *floor) {
            Some(floor) => Err(item.wrong(
                format!("the ceiling is below the floor, {}", print_rate(floor)),
                format!("write at least `{}`, or a lower floor", print_rate(floor)),
            )),
            None => Ok(ceiling),
        }
    });
    let share = fields.find("share").map(|item| item.within(CHANCE, "a share")).transpose();
    Ok(Class { floor: floor?, ceiling: ceiling.transpose()?, share: share? })
}

/// Reads a customer's `conditioner`.
fn conditioner(item: &Item<'_>, packet: Option<Packet>) -> Result<Chosen<Conditioner>, Reported> {
    let chosen = law::law(item)?;
    if let Some(packet) = packet {
        law::compile(item, &chosen, &conditioner::Context { packet: packet.wire })?;
    }
    Ok(chosen)
}
