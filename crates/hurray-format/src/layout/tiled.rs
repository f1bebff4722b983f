//! Tiled: the tensor is cut into tiles, and tiles into smaller ones where nested
//! (docs/format.md, "Layouts"; tag `0x04`).

use super::dense::{hold, not_scalar, one_each};
use super::{Extent, LayoutError};
use crate::error::{DecodeError, FormatError};
use crate::shape::Shape;
use crate::wire::{Cursor, Put};

/// How many levels of tiles there can be, the outermost included.
pub const MAX_TILE_LEVELS: usize = 8;

/// Descriptor fields of a tiled tensor: tiles, outermost first. The elements of a tile are cut
/// into the tiles of the next level; those of the innermost tiles are arranged by `inner`.
///
/// The nesting of the format is kept as a list, so that nothing here recurses.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TiledLayout {
    /// The levels of tiles, at least one and at most [`MAX_TILE_LEVELS`].
    pub levels: Vec<TileLevel>,
    /// How the elements of an innermost tile are arranged.
    pub inner: TileOrder,
}

/// One level of tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileLevel {
    /// The size of a tile along each dimension, none of them 0.
    pub tile_shape: Vec<u64>,
    /// How the tiles are arranged among each other.
    pub order: TileOrder,
}

/// How tiles, or the elements within one, are arranged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TileOrder {
    /// The last dimension fastest, code 1.
    RowMajor,
    /// The first dimension fastest, code 2.
    ColumnMajor,
    /// With a stride per dimension, code 3.
    Strided(Vec<i64>),
}

/// The code of an `inner` that is cut into tiles again.
const NESTED: u8 = 4;

impl TileOrder {
    fn code(&self) -> u8 {
        match self {
            TileOrder::RowMajor => 1,
            TileOrder::ColumnMajor => 2,
            TileOrder::Strided(_) => 3,
        }
    }

    /// Reads what follows behind an order's code, which was checked.
    fn decode(
        code: u8,
        cursor: &mut Cursor<'_>,
        field: &'static str,
        rank: usize,
    ) -> Result<Self, DecodeError> {
        Ok(match code {
            1 => TileOrder::RowMajor,
            2 => TileOrder::ColumnMajor,
            _ => TileOrder::Strided(cursor.array(field, rank)?),
        })
    }

    fn encode(&self, out: &mut Vec<u8>) {
        if let TileOrder::Strided(strides) = self {
            out.put_slice(strides);
        }
    }

    fn validate(&self, field: &'static str, shape: &Shape) -> Result<(), FormatError> {
        match self {
            TileOrder::Strided(strides) => one_each(field, strides.len(), shape),
            TileOrder::RowMajor | TileOrder::ColumnMajor => Ok(()),
        }
    }
}

impl TiledLayout {
    /// Takes the levels, outermost first, and the arrangement within an innermost tile. Nothing is
    /// checked here.
    #[must_use]
    pub fn new(levels: Vec<TileLevel>, inner: TileOrder) -> Self {
        Self { levels, inner }
    }

    pub(super) fn decode(cursor: &mut Cursor<'_>, rank: usize) -> Result<Self, DecodeError> {
        let mut levels = Vec::new();
        loop {
            if levels.len() == MAX_TILE_LEVELS {
                return Err(cursor.error("tile_shape", LayoutError::TileDepth.into()));
            }
            let tile_shape = cursor.array("tile_shape", rank)?;
            let outer = cursor.parse_u8("outer", |code| match code {
                1..=3 => Ok(code),
                _ => Err(FormatError::Field {
                    field: "outer",
                    found: code.into(),
                    allowed: "1, 2 or 3",
                }),
            })?;
            let inner = cursor.parse_u8("inner", |code| match code {
                1..=NESTED => Ok(code),
                _ => Err(FormatError::Field {
                    field: "inner",
                    found: code.into(),
                    allowed: "1, 2, 3 or 4",
                }),
            })?;
            cursor.reserved("reserved", 2)?;
            let order = TileOrder::decode(outer, cursor, "outer_strides", rank)?;
            levels.push(TileLevel { tile_shape, order });
            if inner != NESTED {
                let inner = TileOrder::decode(inner, cursor, "inner_strides", rank)?;
                return Ok(Self { levels, inner });
            }
        }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for (level, number) in self.levels.iter().zip(1..) {
            let innermost = number == self.levels.len();
            out.put_slice(&level.tile_shape);
            out.put_u8(level.order.code());
            out.put_u8(if innermost { self.inner.code() } else { NESTED });
            out.put(&[0; 2]);
            level.order.encode(out);
        }
        self.inner.encode(out);
    }

    pub(super) fn validate_against_shape(&self, shape: &Shape) -> Result<(), FormatError> {
        not_scalar("tiled", shape)?;
        if self.levels.is_empty() || self.levels.len() > MAX_TILE_LEVELS {
            return Err(LayoutError::TileDepth.into());
        }
        for level in &self.levels {
            one_each("tile_shape", level.tile_shape.len(), shape)?;
            if level.tile_shape.contains(&0) {
                return Err(FormatError::Field {
                    field: "tile_shape",
                    found: 0,
                    allowed: "at least 1 along every dimension",
                });
            }
            level.order.validate("outer_strides", shape)?;
        }
        self.inner.validate("inner_strides", shape)
    }

    /// The buffer holds full tiles, and full tiles within tiles.
    pub(super) fn validate_buffers(&self, extent: &Extent<'_>) -> Result<(), FormatError> {
        if extent.shape.is_dynamic() {
            return Ok(());
        }
        hold(extent, self.element_count(extent.shape))
    }

    /// `prod(ceil(shape / tile))` full tiles. A tile that is cut again takes as many elements as
    /// the full tiles of the next level that cover it.
    fn element_count(&self, shape: &Shape) -> Option<u64> {
        if shape.dimensions().contains(&0) {
            return Some(0);
        }
        let mut count = 1u64;
        let mut covered = shape.dimensions();
        for TileLevel { tile_shape, .. } in &self.levels {
            for (size, &tile) in covered.iter().zip(tile_shape) {
                count = count.checked_mul(size.div_ceil(tile))?;
            }
            covered = tile_shape;
        }
        covered.iter().try_fold(count, |count, &size| count.checked_mul(size))
    }
}
