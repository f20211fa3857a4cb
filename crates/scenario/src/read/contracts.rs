//! `[classes]`, `[customers]` and `[stop]`: what is said of flows together.

use indexmap::IndexMap;
use penstock_law::edge::{EDGES, Edge, Site};
use penstock_law::quantity::Rate;

use super::error::{ReadError, offer};
use super::law;
use super::table::{Fields, Item};
use crate::format::{self, CHANCE};
use crate::model::{Chosen, Class, Customer, Group, Packet, StopRule};
use crate::quantity::print_rate;

type Groups<'a> = [(String, Item<'a>, Group)];

/// Reads `[classes]`, and holds the groups' classes against it.
pub(super) fn classes(fields: &Fields<'_>, groups: &Groups<'_>) -> Result<IndexMap<String, Class>, ReadError> {
    let mut classes = IndexMap::new();
    let Some(section) = fields.find("classes") else { return Ok(classes) };
    let remedy = "write one table a class, as in `[classes.udp]`";
    for (name, item) in section.entries(remedy)? {
        classes.insert(name.to_owned(), class(&item)?);
        if !groups.iter().any(|(_, _, group)| group.class.as_deref() == Some(name)) {
            return Err(item.wrong(
                format!("no flow has the class `{name}`"),
                format!("write `class = \"{name}\"` in a group of flows, or leave the class out"),
            ));
        }
    }
    if classes.is_empty() {
        return Err(section.wrong("no classes", remedy));
    }
    let shares: f64 = classes.values().filter_map(|class: &Class| class.share).sum();
    // Shares such as 0.1, 0.2 and 0.7 are a whole but for rounding.
    if shares > 1.0 + 1e-9 {
        return Err(section.wrong(
            format!("the shares of the classes add up to {shares}"),
            "write shares of one whole: together at most 1",
        ));
    }
    let known: Vec<_> = classes.keys().map(String::as_str).collect();
    for (_, item, group) in groups {
        if let Some(name) = group.class.as_deref().filter(|name| !known.contains(name)) {
            let class = item.entry("class").unwrap_or_else(|| item.clone());
            return Err(class.wrong(format!("no class is named `{name}`"), offer(name, &known, "class")));
        }
    }
    Ok(classes)
}

fn class(item: &Item<'_>) -> Result<Class, ReadError> {
    let fields = item.clone().fields(&format::CLASS, "write a table, as in `[classes.udp]`")?;
    let floor = fields.or("floor", Rate(0), |item| item.rate())?;
    let ceiling = match fields.find("ceiling").filter(|item| item.as_text() != Some("unlimited")) {
        None => None,
        Some(item) => {
            let ceiling = item.rate()?;
            if ceiling.0 == 0 {
                return Err(item.wrong("a class that may have nothing", "write a rate above zero, or `unlimited`"));
            }
            if ceiling < floor {
                return Err(item.wrong(
                    format!("the ceiling is below the floor, {}", print_rate(floor)),
                    format!("write at least `{}`, or a lower floor", print_rate(floor)),
                ));
            }
            Some(ceiling)
        }
    };
    let share = fields.find("share").map(|item| item.within(CHANCE, "a share")).transpose()?;
    Ok(Class { floor, ceiling, share })
}

/// Reads `[customers]`.
pub(super) fn customers(
    fields: &Fields<'_>,
    groups: &Groups<'_>,
    packet: Packet,
) -> Result<IndexMap<String, Customer>, ReadError> {
    let mut customers: IndexMap<String, Customer> = IndexMap::new();
    let Some(section) = fields.find("customers") else { return Ok(customers) };
    let known: Vec<_> = groups.iter().map(|(name, _, _)| name.as_str()).collect();
    for (name, item) in section.entries("write one table a customer, as in `[customers.C1]`")? {
        let fields = item.fields(&format::CUSTOMER, "write a table, as in `[customers.C1]`")?;
        let conditioner = fields.find("conditioner").map(|item| conditioner(&item, packet)).transpose()?;
        let remedy = "write the names of groups of flows, as in `flows = [\"ftp\"]`";
        let list = fields.need("flows", remedy)?;
        let mut flows: Vec<String> = Vec::new();
        for item in list.list(remedy)? {
            let group = item.name(remedy)?;
            if !known.contains(&group) {
                return Err(
                    item.wrong(format!("no group of flows is named `{group}`"), offer(group, &known, "group of flows"))
                );
            }
            let taken = customers.iter().find(|(_, customer)| customer.flows.iter().any(|name| name == group));
            let other =
                taken.map(|(other, _)| other.as_str()).or_else(|| flows.iter().any(|f| f == group).then_some(name));
            if let Some(other) = other {
                return Err(item.wrong(
                    format!("`{group}` belongs to the customer `{other}` already"),
                    "let each group belong to one customer, once",
                ));
            }
            flows.push(group.to_owned());
        }
        if flows.is_empty() {
            return Err(list.wrong("a customer without flows", remedy));
        }
        customers.insert(name.to_owned(), Customer { flows, conditioner });
    }
    if customers.is_empty() {
        return Err(section.wrong("no customers", "write one table a customer, as in `[customers.C1]`"));
    }
    Ok(customers)
}

/// Reads a customer's `conditioner`.
fn conditioner(item: &Item<'_>, packet: Packet) -> Result<Chosen<Edge>, ReadError> {
    let chosen = law::law(item, EDGES)?;
    law::compile(item, &chosen, &Site { packet: packet.wire })?;
    Ok(chosen)
}

/// Reads `[stop]`.
pub(super) fn stop(fields: &Fields<'_>, groups: &Groups<'_>, packet: Packet) -> Result<Option<StopRule>, ReadError> {
    let Some(item) = fields.find("stop") else { return Ok(None) };
    let remedy = "write `when = \"transfers complete\"`";
    let fields = item.fields(&format::STOP, remedy)?;
    let when = fields.need("when", remedy)?;
    let rule = when.choice()?;
    let completes = |group: &Group| {
        group.size.is_some() && group.repeats.is_none() && group.needs(packet).is_ok_and(|needs| needs.reliable)
    };
    let StopRule::TransfersComplete = rule;
    if groups.iter().any(|(_, _, group)| completes(group)) {
        return Ok(Some(rule));
    }
    Err(when.wrong(
        "no transfer is ever complete",
        "give a group of flows a `size` and neither `arrivals` nor `idle`, or leave `[stop]` out",
    ))
}
