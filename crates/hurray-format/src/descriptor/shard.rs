//! The shard section: a tensor that is a box of a larger one (docs/format.md, "Shards").

use super::DescriptorError;
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// The larger tensor, and where in it this one starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The shape of the larger tensor.
    pub parent_shape: Vec<u64>,
    /// Where this tensor starts along each dimension.
    pub offset: Vec<u64>,
}

impl Shard {
    pub(super) fn decode(cursor: &mut Cursor<'_>, rank: usize) -> Result<Self, DecodeError> {
        Ok(Self {
            parent_shape: cursor.array("parent_shape", rank)?,
            offset: cursor.array("shard_offset", rank)?,
        })
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.put_slice(&self.parent_shape);
        out.put_slice(&self.offset);
    }

    /// The shard lies in its parent along every dimension, none of which is dynamic.
    pub(super) fn validate(&self, shape: &Shape) -> Result<(), FormatError> {
        let rank = shape.rank();
        for found in [self.parent_shape.len(), self.offset.len()] {
            if found != rank {
                return Err(DescriptorError::ShardRank { found, rank }.into());
            }
        }
        let boxes = shape.dimensions().iter().zip(&self.parent_shape).zip(&self.offset);
        for (dimension, ((&size, &parent), &offset)) in boxes.enumerate() {
            if [size, parent, offset].contains(&Shape::DYNAMIC) {
                return Err(DescriptorError::DynamicShard { dimension }.into());
            }
            if offset.checked_add(size).is_none_or(|end| end > parent) {
                return Err(DescriptorError::ShardBounds { dimension, offset, size, parent }.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_lies_in_its_parent() {
        let shape = Shape::new([3, 4]).unwrap();
        let shard = |parent: [u64; 2], offset: [u64; 2]| {
            Shard { parent_shape: parent.into(), offset: offset.into() }.validate(&shape)
        };
        assert_eq!(shard([3, 8], [0, 4]), Ok(()));
        let past = DescriptorError::ShardBounds { dimension: 1, offset: 5, size: 4, parent: 8 };
        assert_eq!(shard([3, 8], [0, 5]), Err(past.into()));
        let offset = u64::MAX - 1;
        let wraps = DescriptorError::ShardBounds { dimension: 0, offset, size: 3, parent: 3 };
        assert_eq!(shard([3, 4], [offset, 0]), Err(wraps.into()));
        assert_eq!(
            shard([Shape::DYNAMIC, 4], [0, 0]),
            Err(DescriptorError::DynamicShard { dimension: 0 }.into())
        );
        let short = Shard { parent_shape: vec![3], offset: vec![0, 0] };
        assert_eq!(
            short.validate(&shape),
            Err(DescriptorError::ShardRank { found: 1, rank: 2 }.into())
        );
    }
}
