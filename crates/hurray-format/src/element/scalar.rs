//! Rust types that hold one value of an element type as it lies in a buffer.

use half::{bf16, f16};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::ElementType;

/// A Rust type whose bytes are one value of an element type, so that a buffer can be viewed as a
/// slice of it. Packed and private types have none; see [`super::Values::get`].
pub trait Scalar:
    Copy + Send + Sync + FromBytes + IntoBytes + Immutable + KnownLayout + private::Sealed + 'static
{
    /// The element type.
    const ELEMENT_TYPE: ElementType;
}

mod private {
    pub trait Sealed {}
}

/// A complex number as it lies in a buffer: the real part, then the imaginary part.
#[derive(Clone, Copy, Debug, Default, PartialEq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub struct Complex<T> {
    /// The real part.
    pub re: T,
    /// The imaginary part.
    pub im: T,
}

macro_rules! scalars {
    ($($rust:ty => $element_type:ident),* $(,)?) => {$(
        impl private::Sealed for $rust {}
        impl Scalar for $rust {
            const ELEMENT_TYPE: ElementType = ElementType::$element_type;
        }
    )*};
}

scalars! {
    f16 => Float16,
    bf16 => BFloat16,
    f32 => Float32,
    f64 => Float64,
    i8 => Int8,
    u8 => Uint8,
    i16 => Int16,
    u16 => Uint16,
    i32 => Int32,
    u32 => Uint32,
    i64 => Int64,
    u64 => Uint64,
    Complex<f32> => Complex64,
    Complex<f64> => Complex128,
    super::Float128 => Float128,
}
