//! Composites: heads and the tensors that follow them as their members
//! (docs/format.md, "Composites").
//!
//! Opening a file finds the members of every head; a full verification also holds their shard
//! sections and roles against it.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use hurray_format::cast::to_u64;
use hurray_format::descriptor::MemberRole;
use hurray_format::layout::{CompositionRule, LayoutDescriptor};
use hurray_format::{Shape, TensorDescriptor};

use thiserror::Error;

/// How deep composites can lie inside one another.
pub const MAX_DEPTH: usize = 8;

/// What is wrong with a composite.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompositeError {
    /// The file ends before the last member.
    #[error("the composite has {found} members instead of {promised}")]
    MissingMembers {
        /// The members that the head promises.
        promised: u32,
        /// The members that are there.
        found: usize,
    },
    /// Composites lie too deep inside one another.
    #[error("composites are nested more than {MAX_DEPTH} deep")]
    TooDeep,
    /// A member of a partition or an overlay that does not say where it belongs.
    #[error("member {member} of the composite has no shard section")]
    NoShard {
        /// The number of the member.
        member: usize,
    },
    /// The shard section of a member names another shape than the head has.
    #[error("member {member} is a shard of {found:?}, but the head has shape {expected}")]
    Parent {
        /// The number of the member.
        member: usize,
        /// The parent's shape according to the member.
        found: Vec<u64>,
        /// The shape of the head.
        expected: Shape,
    },
    /// Two members of a partition hold the same element.
    #[error("members {first} and {second} of the partition overlap")]
    Overlap {
        /// The number of a member.
        first: usize,
        /// The number of another one.
        second: usize,
    },
    /// The members of a partition do not hold every element exactly once.
    #[error("its {members} members do not hold every element of shape {shape} exactly once")]
    Coverage {
        /// The number of members.
        members: usize,
        /// The shape of the whole.
        shape: Shape,
    },
    /// The base of an overlay does not have the shape of the head.
    #[error("the base of the overlay does not span it")]
    Base,
    /// A member of an overlay has another role than its place gives it.
    #[error("member {member} of the overlay has role {found:?}, not {expected:?}")]
    Role {
        /// The number of the member.
        member: usize,
        /// The role found, if there is one.
        found: Option<MemberRole>,
        /// The role that belongs there.
        expected: MemberRole,
    },
    /// A role outside an overlay.
    #[error("it has a role in an overlay, but it is in none")]
    StrayRole,
}

/// The members that a layout promises, `None` unless it is a composite head.
pub(crate) fn member_count(layout: &LayoutDescriptor) -> Option<u32> {
    match layout {
        LayoutDescriptor::Composite(head) => Some(head.member_count),
        _ => None,
    }
}

/// A composite: the position of its head among the tensors of the file, and those of its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Composite {
    pub(crate) head: usize,
    pub(crate) members: Vec<usize>,
}

/// Finds the members of every head and checks that there are as many as it promises, and that
/// composites are not nested too deep. Takes what [`member_count`] says of each tensor in the order
/// of their descriptors. Linear.
///
/// # Errors
/// The position of the head with what is wrong.
pub(crate) fn find(
    tensors: impl IntoIterator<Item = Option<u32>>,
) -> Result<Vec<Composite>, (usize, CompositeError)> {
    let mut composites: Vec<Composite> = Vec::new();
    // Composites that still miss members, the innermost last: the position in `composites` and the
    // members promised.
    let mut open: Vec<(usize, u32)> = Vec::new();
    for (position, promised) in tensors.into_iter().enumerate() {
        if let Some(&(parent, _)) = open.last() {
            composites[parent].members.push(position);
        }
        if let Some(promised) = promised {
            if open.len() == MAX_DEPTH {
                return Err((position, CompositeError::TooDeep));
            }
            open.push((composites.len(), promised));
            composites.push(Composite { head: position, members: Vec::new() });
        }
        while let Some(&(last, promised)) = open.last()
            && to_u64(composites[last].members.len()) == u64::from(promised)
        {
            open.pop();
        }
    }
    match open.last() {
        None => Ok(composites),
        Some(&(last, promised)) => {
            let Composite { head, members } = &composites[last];
            Err((*head, CompositeError::MissingMembers { promised, found: members.len() }))
        }
    }
}

/// How many members are compared with one another to name two that overlap.
const MAX_COMPARED: usize = 1000;

/// Checks that the members of every composite make it up: shard sections, roles and coverage.
/// Takes the tensors in the order of their descriptors. Linear.
///
/// # Errors
/// The position of the head, or of a tensor in no composite, with what is wrong.
pub(crate) fn check(tensors: &[&TensorDescriptor]) -> Result<(), (usize, CompositeError)> {
    let composites = find(tensors.iter().map(|tensor| member_count(&tensor.layout)))?;
    let mut in_overlay = vec![false; tensors.len()];
    for Composite { head, members } in &composites {
        let LayoutDescriptor::Composite(layout) = &tensors[*head].layout else { continue };
        let (shape, rule) = (&tensors[*head].shape, layout.rule);
        if let CompositionRule::Overlay(_) = rule {
            members.iter().for_each(|&member| in_overlay[member] = true);
        }
        let members: Vec<_> = members.iter().map(|&member| tensors[member]).collect();
        check_rule(shape, rule, &members).map_err(|error| (*head, error))?;
    }
    let stray = (tensors.iter().zip(in_overlay))
        .position(|(tensor, in_overlay)| tensor.member_role.is_some() && !in_overlay);
    stray.map_or(Ok(()), |position| Err((position, CompositeError::StrayRole)))
}

fn check_rule(
    shape: &Shape,
    rule: CompositionRule,
    members: &[&TensorDescriptor],
) -> Result<(), CompositeError> {
    match rule {
        CompositionRule::Partition => {
            let parts = parts(shape, members)?;
            if cover_once(shape.dimensions(), parts.iter().copied()) {
                return Ok(());
            }
            Err(find_overlap(&parts).unwrap_or_else(|| {
                let (members, shape) = (parts.len(), shape.clone());
                CompositeError::Coverage { members, shape }
            }))
        }
        CompositionRule::Overlay(_) => {
            let parts = parts(shape, members)?;
            let spans = |&(offset, size): &Part<'_>| {
                offset.iter().all(|&start| start == 0) && size == shape.dimensions()
            };
            if !parts.first().is_some_and(spans) {
                return Err(CompositeError::Base);
            }
            check_roles(members)
        }
        // A group holds together tensors of any shape.
        _ => Ok(()),
    }
}

/// The part of the whole that each member is.
fn parts<'a>(
    shape: &Shape,
    members: &[&'a TensorDescriptor],
) -> Result<Vec<Part<'a>>, CompositeError> {
    let part = |(member, tensor): (usize, &&'a TensorDescriptor)| {
        let tensor = *tensor;
        let shard = tensor.shard.as_ref().ok_or(CompositeError::NoShard { member })?;
        if shard.parent_shape != shape.dimensions() {
            let found = shard.parent_shape.clone();
            return Err(CompositeError::Parent { member, found, expected: shape.clone() });
        }
        Ok((&*shard.offset, tensor.shape.dimensions()))
    };
    members.iter().enumerate().map(part).collect()
}

/// The first member of an overlay is its base, the others are corrections. A head among them cannot
/// say so.
fn check_roles(members: &[&TensorDescriptor]) -> Result<(), CompositeError> {
    for (member, tensor) in members.iter().enumerate() {
        let expected = if member == 0 { MemberRole::Base } else { MemberRole::Correction };
        let found = tensor.member_role;
        if member_count(&tensor.layout).is_none() && found != Some(expected) {
            return Err(CompositeError::Role { member, found, expected });
        }
    }
    Ok(())
}

/// Two of the first parts that overlap.
fn find_overlap(parts: &[Part<'_>]) -> Option<CompositeError> {
    let parts = &parts[..parts.len().min(MAX_COMPARED)];
    parts.iter().enumerate().find_map(|(second, &part)| {
        let first = parts[..second].iter().position(|&other| overlap(other, part))?;
        Some(CompositeError::Overlap { first, second })
    })
}

/// A part of a tensor: its offset and its size along every dimension.
type Part<'a> = (&'a [u64], &'a [u64]);

/// Whether `parts` hold every element of a tensor of this shape exactly once.
///
/// Linear, whatever the parts look like. With a random number `h(k, x)` for every coordinate `x` of
/// every dimension `k`, a part from `a` to `b` gets the weight `prod_k (h(k, b_k) - h(k, a_k))`.
/// Weights of parts that are cut from one another add up to the weight of the whole, whatever the
/// numbers are. For parts that do not make up the whole the difference is a polynomial in the
/// numbers that is not zero, of degree `rank` at most: modulo the prime it vanishes with a
/// probability of `rank / 2^61`, and whoever has made the file does not know the numbers.
fn cover_once<'a>(shape: &[u64], parts: impl Iterator<Item = Part<'a>>) -> bool {
    const PRIME: u128 = (1 << 61) - 1;
    let numbers = RandomState::new();
    let weight = |offset: &[u64], size: &[u64]| {
        offset.iter().zip(size).enumerate().fold(1u128, |weight, (dimension, (&start, &length))| {
            let number = |x: u128| u128::from(numbers.hash_one((dimension, x))) % PRIME;
            let (low, high) = (u128::from(start), u128::from(start) + u128::from(length));
            weight * (number(high) + PRIME - number(low)) % PRIME
        })
    };
    let whole = weight(&vec![0; shape.len()], shape);
    parts.fold(0, |sum, (offset, size)| (sum + weight(offset, size)) % PRIME) == whole
}

/// Whether two parts have an element in common.
fn overlap(a: Part<'_>, b: Part<'_>) -> bool {
    let ends = |(offset, size): (&u64, &u64)| {
        (u128::from(*offset), u128::from(*offset) + u128::from(*size))
    };
    let a = a.0.iter().zip(a.1).map(ends);
    let b = b.0.iter().zip(b.1).map(ends);
    a.zip(b).all(|(a, b)| a.0.max(b.0) < a.1.min(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(shape: &[u64], parts: &[Part<'_>]) -> bool {
        cover_once(shape, parts.iter().copied())
    }

    #[test]
    fn members_are_counted_through_nested_heads() {
        let composite = |head, members: &[usize]| Composite { head, members: members.to_vec() };
        // head(2): [head(1): [tensor], tensor], tensor, head(0)
        let found = find([Some(2), Some(1), None, None, None, Some(0)]);
        let expected = vec![composite(0, &[1, 3]), composite(1, &[2]), composite(5, &[])];
        assert_eq!(found, Ok(expected));
        let missing = CompositeError::MissingMembers { promised: 3, found: 2 };
        assert_eq!(find([None, Some(3), None, None]), Err((1, missing)));
        assert_eq!(find([None, None]), Ok(vec![]));
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth| vec![Some(1); depth].into_iter().chain([None]);
        assert_eq!(find(nested(8)).unwrap().len(), 8);
        assert_eq!(find(nested(9)), Err((8, CompositeError::TooDeep)));
        // Heads beside one another are not nested.
        assert!(find(vec![Some(0); 1000]).is_ok());
    }

    #[test]
    fn parts_cover_a_tensor_exactly_once() {
        let halves: [Part<'_>; 2] = [(&[0, 0], &[2, 3]), (&[2, 0], &[4, 3])];
        assert!(covers(&[6, 3], &halves));
        // A gap, an overlap, and both so that the volume is right.
        assert!(!covers(&[6, 3], &halves[..1]));
        assert!(!covers(&[6, 3], &[halves[0], halves[1], (&[1, 1], &[1, 1])]));
        assert!(!covers(&[6, 3], &[(&[0, 0], &[3, 3]), (&[2, 0], &[3, 3])]));
        // A pinwheel, which no straight cut takes apart.
        let pinwheel: [Part<'_>; 5] = [
            (&[0, 0], &[1, 2]),
            (&[0, 2], &[2, 1]),
            (&[2, 1], &[1, 2]),
            (&[1, 0], &[2, 1]),
            (&[1, 1], &[1, 1]),
        ];
        assert!(covers(&[3, 3], &pinwheel));
        assert!(!covers(&[3, 3], &pinwheel[1..]));
    }

    #[test]
    fn empty_parts_scalars_and_huge_tensors_are_covered() {
        assert!(covers(&[], &[(&[], &[])]));
        assert!(!covers(&[], &[(&[], &[]), (&[], &[])]));
        assert!(covers(&[0, 5], &[]));
        assert!(covers(&[2, 5], &[(&[0, 0], &[2, 5]), (&[1, 1], &[0, 3])]));
        let max = u64::MAX - 1;
        let parts: [Part<'_>; 2] = [(&[0; 3], &[1, max, max]), (&[1, 0, 0], &[max - 1, max, max])];
        assert!(covers(&[max; 3], &parts));
        assert!(!covers(&[max; 3], &parts[1..]));
    }

    #[test]
    fn parts_that_share_an_element_overlap() {
        assert!(overlap((&[0, 0], &[2, 2]), (&[1, 1], &[5, 5])));
        assert!(!overlap((&[0, 0], &[2, 2]), (&[2, 0], &[5, 5])));
        assert!(!overlap((&[0, 0], &[2, 0]), (&[0, 0], &[5, 5])));
    }
}
