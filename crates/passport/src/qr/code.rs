//! A text as a picture.

use qrcode::render::unicode::Dense1x2;
use qrcode::{Color, EcLevel};

/// Pixels of one module.
const MODULE_PIXELS: usize = 10;

/// Modules of white around the code, as the standard asks for.
const QUIET_ZONE: usize = 4;

/// A QR code, level M.
pub struct QrCode(qrcode::QrCode);

/// A text that no code can carry.
#[derive(Debug, thiserror::Error)]
pub enum QrError {
    /// Too long for the largest code.
    #[error("the text of {length} bytes does not fit a QR code")]
    TooLong {
        /// How long it is.
        length: usize,
        /// What the encoder said.
        #[source]
        source: qrcode::types::QrError,
    },
    /// The picture could not be written.
    #[error("the picture could not be written")]
    Png(#[from] png::EncodingError),
}

impl QrError {
    /// The stable name, for machines.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "QR_ENCODE_FAILED"
    }
}

impl QrCode {
    /// The code of that text.
    ///
    /// # Errors
    ///
    /// [`QrError::TooLong`].
    pub fn new(text: &str) -> Result<Self, QrError> {
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M);
        code.map(Self).map_err(|source| QrError::TooLong { length: text.len(), source })
    }

    /// How many modules a side has, without the quiet zone.
    #[must_use]
    pub fn modules(&self) -> usize {
        self.0.width()
    }

    /// A PNG of one bit a pixel: 10 pixels a module, a quiet zone of 4 modules.
    ///
    /// # Errors
    ///
    /// [`QrError::Png`].
    pub fn png(&self) -> Result<Vec<u8>, QrError> {
        let side = (self.modules() + 2 * QUIET_ZONE) * MODULE_PIXELS;
        let pixels = u32::try_from(side).expect("a code has at most 177 modules");
        let row_bytes = side.div_ceil(8);
        let mut image = Vec::with_capacity(row_bytes * side);
        for y in 0..side {
            let mut row = vec![0xFF_u8; row_bytes];
            for x in (0..side).filter(|x| self.is_dark(x / MODULE_PIXELS, y / MODULE_PIXELS)) {
                row[x / 8] &= !(0x80 >> (x % 8));
            }
            image.extend_from_slice(&row);
        }
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, pixels, pixels);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&image)?;
        writer.finish()?;
        Ok(file)
    }

    /// The code in half blocks for a terminal with dark ground, quiet zone included.
    #[must_use]
    pub fn terminal(&self) -> String {
        self.0.render::<Dense1x2>().dark_color(Dense1x2::Light).light_color(Dense1x2::Dark).build()
    }

    /// Whether the module there is dark; coordinates count from the edge of the quiet zone.
    fn is_dark(&self, x: usize, y: usize) -> bool {
        let inside = QUIET_ZONE..QUIET_ZONE + self.modules();
        inside.contains(&x) && inside.contains(&y) && self.0[(x - QUIET_ZONE, y - QUIET_ZONE)] == Color::Dark
    }
}
