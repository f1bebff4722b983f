//! A tree as a list of coordinates, and in another mode order.
//!
//! Both read the logical indices of the leaves block by block ([`Source`]); the other mode order
//! is built from them as from any other entries, without a list of coordinates in between. The
//! values keep their bits.

use hurray_format::cast::{to_u64, to_usize};
use hurray_format::{AlignedBytes, ModeOrder, Values};

use crate::build::{BLOCK, Block, BuildError, Builder, Source, map_with};
use crate::coo::Coo;
use crate::tensor::Tensor;
use crate::tree::Csf;

/// Leaves to a node, on average in a block, from which on each node gets a loop of its own.
const LONG: usize = 16;

/// Leaves whose coordinates one task writes.
const TASK: usize = 64 * BLOCK;

impl<S: AsRef<[u64]> + Sync, B: AsRef<[u8]>> Tensor<S, B> {
    /// The same tensor in another mode order. Costs what building it costs.
    ///
    /// ```
    /// use hurray_csf::build::{Builder, Indices};
    /// use hurray_format::{ModeOrder, Shape, Values};
    ///
    /// // The worked example of docs/format.md.
    /// let indices = Indices::Rows(&[0, 0, 1, 0, 2, 3, 1, 1, 0, 1, 1, 2]);
    /// let tensor = Builder::new(Shape::new([2, 3, 4])?)
    ///     .build(indices, Values::from_slice(&[1.0f32, 2.0, 3.0, 4.0]))?;
    ///
    /// let turned = tensor.to_mode_order(ModeOrder::new([2, 0, 1])?)?;
    /// assert_eq!(turned.tree().level(0), (&[0, 4][..], &[0, 1, 2, 3][..]));
    /// assert_eq!(turned.values().as_slice::<f32>()?, [3.0, 1.0, 4.0, 2.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`] if the mode order is not one of the tensor's rank, or if the tree is not
    /// valid: a coordinate out of range, or an index that is there twice.
    pub fn to_mode_order(&self, mode_order: ModeOrder) -> Result<Tensor, BuildError> {
        Builder::new(self.tree().shape().clone())
            .mode_order(mode_order)
            .build_from(&Leaves(self.tree().as_view()), &self.values().as_view())
    }

    /// The elements as a list of coordinates, in storage order: that is lexicographic order, and
    /// the list says so, in the identity mode order only. O(nnz * rank).
    ///
    /// ```
    /// # use hurray_csf::build::{Builder, Indices};
    /// # use hurray_format::{ModeOrder, Shape, Values};
    /// // Dimension 2 outermost.
    /// let indices = Indices::Rows(&[0, 0, 1, 1, 1, 0]);
    /// let tensor = Builder::new(Shape::new([2, 3, 4])?)
    ///     .mode_order(ModeOrder::new([2, 0, 1])?)
    ///     .build(indices, Values::from_slice(&[1.0, 3.0]))?;
    ///
    /// assert_eq!(tensor.to_coo().coordinates(), [1, 1, 0, 0, 0, 1]);
    /// assert_eq!(tensor.to_sorted_coo()?.coordinates(), [0, 0, 1, 1, 1, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A tree that is not valid gives wrong coordinates, and storage that has lost values none.
    #[must_use]
    pub fn to_coo(&self) -> Coo {
        let (tree, values) = (self.tree(), self.values().as_view());
        let rank = tree.rank();
        let leaves = Leaves(tree.as_view());
        let mut coordinates = vec![0; values.len() * rank];
        let pieces = coordinates.chunks_mut(TASK * rank).enumerate().collect();
        map_with(
            pieces,
            || Block::new(rank),
            |block, (task, coordinates): (usize, &mut [u64])| {
                for (number, rows) in coordinates.chunks_mut(BLOCK * rank).enumerate() {
                    leaves.read(task * TASK + number * BLOCK, rows.len() / rank, block);
                    for dimension in 0..rank {
                        let column = block.column(dimension);
                        for (row, &coordinate) in rows.chunks_exact_mut(rank).zip(column) {
                            row[dimension] = coordinate;
                        }
                    }
                }
            },
        );
        let bytes = AlignedBytes::from(values.bytes());
        Values::new(values.element_type(), values.len(), bytes)
            .map_err(Into::into)
            .and_then(|values| {
                let is_sorted = tree.mode_order().is_identity();
                Coo::new(tree.shape().clone(), is_sorted, coordinates, values)
            })
            .expect("one row of coordinates and one value per leaf")
    }

    /// The elements as a list of coordinates in lexicographic order, dimension 0 first. Costs
    /// [`Tensor::to_coo`], and a change of the mode order unless it is the identity.
    ///
    /// # Errors
    /// [`BuildError`] if the tree is not valid.
    pub fn to_sorted_coo(&self) -> Result<Coo, BuildError> {
        if self.tree().mode_order().is_identity() {
            return Ok(self.to_coo());
        }
        let identity = ModeOrder::identity(self.tree().rank())?;
        Ok(self.to_mode_order(identity)?.to_coo())
    }
}

/// The logical indices of the leaves of a tree, by position.
struct Leaves<'a>(Csf<&'a [u64]>);

impl Source for Leaves<'_> {
    fn len(&self) -> usize {
        self.0.nnz()
    }

    /// Climbs from the leaves of the block to the root with the nodes over them. O(rank) steps
    /// per leaf at most, and a few binary searches, whatever the levels hold.
    fn fill(&self, start: usize, block: &mut Block) -> bool {
        let len = block.len();
        // The nodes of a level that have leaves in the block, and where in it their leaves end.
        let mut nodes: Vec<usize> = (start..start + len).collect();
        let mut ends: Vec<usize> = (1..=len).collect();
        for level in (0..self.0.rank()).rev() {
            let (pos, crd) = self.0.level(level);
            let coordinate = |node: &usize| crd.get(*node).copied().unwrap_or(0);
            let column = block.column_mut(self.0.mode_order().dimension(level));
            let leaf_crd = crd.get(start..start + len).filter(|_| level + 1 == self.0.rank());
            if let Some(crd) = leaf_crd {
                column.copy_from_slice(crd);
            } else if nodes.len() <= len / LONG {
                let mut begin = 0;
                for (node, &end) in nodes.iter().zip(&ends) {
                    column[begin..end].fill(coordinate(node));
                    begin = end;
                }
                // Only untrusted levels leave leaves over that have no node.
                column[begin..].fill(0);
            } else {
                // Where fibers are short, no processor foresees the end of a loop for each, and a
                // wrong guess takes longer than a few leaves. So the way from leaf to leaf is a sum.
                let mut begins = [false; BLOCK + 1];
                ends.iter().for_each(|&end| begins[end] = true);
                let mut number = 0;
                for (slot, &begins) in column.iter_mut().zip(&begins) {
                    number += usize::from(begins);
                    *slot = nodes.get(number).map_or(0, coordinate);
                }
            }
            climb(pos, &mut nodes, &mut ends);
        }
        false
    }
}

/// How many of some nodes in ascending order lie before `end`, at least the first one.
fn siblings(nodes: &[usize], end: usize) -> usize {
    // No more than there are numbers from the first on, and as many where no fiber is empty.
    let most = end.saturating_sub(nodes[0]).clamp(1, nodes.len());
    if nodes[most - 1] < end {
        most
    } else {
        nodes[..most].partition_point(|&node| node < end).max(1)
    }
}

/// Replaces nodes by their parents, in place. `pos` is that of the nodes' level.
fn climb(pos: &[u64], nodes: &mut Vec<usize>, ends: &mut Vec<usize>) {
    let children_end = pos.get(1..).unwrap_or(&[]);
    let (mut parents, mut parent, mut first) = (0, 0, 0);
    if let [start, .., last] = nodes[..]
        && last - start + 1 == nodes.len()
    {
        // Where no fiber is empty, children and parents follow each other without a gap, and
        // nothing has to be searched for but the first parent.
        parent = children_end.partition_point(|&end| end <= to_u64(start));
        for &end in &children_end[parent..] {
            let next = to_usize(end).saturating_sub(start).min(nodes.len());
            if next <= first {
                break;
            }
            nodes[parents] = parent;
            ends[parents] = ends[next - 1];
            (parents, parent, first) = (parents + 1, parent + 1, next);
        }
    }
    while first < nodes.len() {
        let node = to_u64(nodes[first]);
        // Most often the next parent; else the first one whose children end behind the node.
        if children_end.get(parent).is_some_and(|&end| end <= node) {
            parent += children_end[parent..].partition_point(|&end| end <= node);
        }
        let Some(&end) = children_end.get(parent) else { break };
        first += siblings(&nodes[first..], to_usize(end));
        nodes[parents] = parent;
        ends[parents] = ends[first - 1];
        parents += 1;
        parent += 1;
    }
    nodes.truncate(parents);
    ends.truncate(parents);
}
