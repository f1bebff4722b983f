//! The reference implementation, blocking and reduced to what the comparison needs.

use std::path::Path;

use hurray_core::{LayoutDescriptor, TensorDescriptor};
use reference_io::file::{FileReader, FileWriter, FileWriterOptions, KvValue};

/// A tensor as the reference read it.
#[derive(Debug)]
pub struct ReferenceTensor {
    /// Its name in the index.
    pub name: String,
    /// Its descriptor.
    pub descriptor: TensorDescriptor,
    /// The bytes of each buffer.
    pub buffers: Vec<Vec<u8>>,
}

/// What the reference says of something it does not accept.
pub type Refusal = String;

/// Keys and values of a file, as the reference has them.
pub type ReferenceMetadata = Vec<(String, KvValue)>;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime on this thread")
        .block_on(future)
}

/// Reads a whole file: its tensors in index order and its metadata. Composites are put together as
/// well, so that their members are checked.
///
/// # Errors
/// What the reference says of the file.
pub fn read(path: &Path) -> Result<(Vec<ReferenceTensor>, ReferenceMetadata), Refusal> {
    block_on(async {
        let file = tokio::fs::File::open(path).await.map_err(|error| error.to_string())?;
        let mut reader = FileReader::open(file).await.map_err(|error| error.to_string())?;
        let names: Vec<String> = reader.tensor_names().map(str::to_owned).collect();
        let mut tensors = Vec::new();
        for name in names {
            let tensor = reader.read_tensor(&name).await.map_err(|error| error.to_string())?;
            if let LayoutDescriptor::Composite(_) = tensor.descriptor.layout {
                reader.read_composite(&name).await.map_err(|error| error.to_string())?;
            }
            tensors.push(ReferenceTensor {
                name,
                descriptor: tensor.descriptor,
                buffers: tensor.buffers.iter().map(|buffer| buffer.to_vec()).collect(),
            });
        }
        Ok((tensors, reader.kv().to_vec()))
    })
}

/// Writes a file with these tensors and this metadata.
///
/// # Errors
/// What the reference says of them.
pub fn write(
    path: &Path,
    options: FileWriterOptions,
    tensors: &[ReferenceTensor],
    metadata: ReferenceMetadata,
) -> Result<(), Refusal> {
    block_on(async {
        let file = tokio::fs::File::create(path).await.map_err(|error| error.to_string())?;
        let mut writer =
            FileWriter::with_options(file, options).await.map_err(|error| error.to_string())?;
        for tensor in tensors {
            let buffers: Vec<&[u8]> = tensor.buffers.iter().map(Vec::as_slice).collect();
            writer
                .write_tensor(&tensor.name, &tensor.descriptor, &buffers)
                .await
                .map_err(|error| error.to_string())?;
        }
        let file = writer.finish(metadata).await.map_err(|error| error.to_string())?;
        file.sync_all().await.map_err(|error| error.to_string())
    })
}

/// The words of a buffer, which need not be aligned.
#[must_use]
pub fn words(buffer: &[u8]) -> Vec<u64> {
    let (words, rest) = buffer.as_chunks::<8>();
    assert!(rest.is_empty(), "a buffer of {} bytes holds no whole words", buffer.len());
    words.iter().map(|&word| u64::from_le_bytes(word)).collect()
}

/// Every stored index of a CSF or COO tensor with the position of its value, in logical order, as
/// the reference looks it up.
///
/// # Panics
/// If the tensor has another layout, or the reference does not find what it stores.
#[must_use]
pub fn entries(tensor: &ReferenceTensor) -> Vec<(Vec<u64>, u64)> {
    use hurray_core::layout::addressing;

    let shape = tensor.descriptor.shape.dims();
    let mut entries = match &tensor.descriptor.layout {
        LayoutDescriptor::Csf(layout) => {
            let levels: Vec<Vec<u64>> = tensor.buffers[1..].iter().map(|b| words(b)).collect();
            let pos: Vec<&[u64]> = levels.iter().step_by(2).map(Vec::as_slice).collect();
            let crd: Vec<&[u64]> = levels.iter().skip(1).step_by(2).map(Vec::as_slice).collect();
            addressing::csf::validate_index_buffers(
                layout.nnz,
                &layout.mode_order,
                shape,
                &pos,
                &crd,
            )
            .expect("the reference finds the tree valid");
            walk(&layout.mode_order, &pos, &crd)
                .into_iter()
                .map(|index| {
                    let position =
                        addressing::csf::element_offset(&index, &layout.mode_order, &pos, &crd)
                            .expect("the reference can look up")
                            .expect("the reference finds a stored index");
                    (index, position)
                })
                .collect::<Vec<_>>()
        }
        LayoutDescriptor::Coo(layout) => {
            let indices = words(&tensor.buffers[1]);
            indices
                .chunks_exact(shape.len())
                .map(|index| {
                    let position =
                        addressing::coo::element_offset(index, layout.is_sorted, &indices)
                            .expect("the reference can look up")
                            .expect("the reference finds a stored index");
                    (index.to_vec(), position)
                })
                .collect()
        }
        other => panic!("layout {:#04x} has no list of indices", other.tag()),
    };
    entries.sort_unstable();
    entries
}

/// The logical index of every leaf in storage order: level by level, each node takes over the
/// coordinates of its parent.
fn walk(mode_order: &[u32], pos: &[&[u64]], crd: &[&[u64]]) -> Vec<Vec<u64>> {
    let at = |n: u64| usize::try_from(n).expect("positions fit");
    let mut nodes = vec![vec![0; mode_order.len()]];
    for (level, &dimension) in mode_order.iter().enumerate() {
        let mut children = Vec::new();
        for (parent, index) in nodes.iter().enumerate() {
            let below = at(pos[level][parent])..at(pos[level][parent + 1]);
            for &coordinate in &crd[level][below] {
                let mut index = index.clone();
                index[dimension as usize] = coordinate;
                children.push(index);
            }
        }
        nodes = children;
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_reads_the_worked_example() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fixtures/conformance/accept/seed_order_201.hrry");
        let (tensors, metadata) = read(&path).unwrap();
        assert!(metadata.is_empty());
        let indices: Vec<Vec<u64>> = entries(&tensors[0]).into_iter().map(|e| e.0).collect();
        assert_eq!(indices, [[0, 0, 1], [0, 2, 3], [1, 1, 0], [1, 1, 2]]);
    }
}
