//! What can be set for each type of step.

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::word::words;

/// Labels of a yes-or-no step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BooleanConfig {
    /// 1 to 60 characters. Default "Yes".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub true_label: Option<String>,
    /// 1 to 60 characters. Default "No".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub false_label: Option<String>,
}

/// The options of a step that takes one of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChoiceConfig {
    /// 2 to 50 options.
    pub options: Vec<ChoiceOption>,
}

/// The options of a step that takes several.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MultiChoiceConfig {
    /// 1 to 50 options.
    pub options: Vec<ChoiceOption>,
    /// Fewest options, 0 to 50. When absent: 1 on a required step, else 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_selected: Option<u32>,
    /// Most options, 1 to 50; all of them when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_selected: Option<u32>,
}

/// One option of a choice. Answers store its id, so that its label may be changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChoiceOption {
    /// `o-` and 3 to 12 lower-case letters or digits.
    pub id: String,
    /// 1 to 120 characters.
    pub label: String,
    /// Points won by choosing it, 0 to 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<u32>,
    /// Choosing it fails the step. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail: Option<bool>,
    /// Not applicable: choosing it takes the step out of the score. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exclude: Option<bool>,
}

/// What a text step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TextConfig {
    /// Line breaks are allowed. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiline: Option<bool>,
    /// Fewest characters, 0 to 5,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_length: Option<u32>,
    /// Most characters, 1 to 5,000. Default 2,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u32>,
    /// Default [`TextFormat::Plain`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TextFormat>,
    /// A regular expression that the whole text has to match; up to 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Shown in the empty field; up to 120 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
}

impl TextConfig {
    /// Most characters when the template does not say.
    pub const DEFAULT_MAX_LENGTH: u32 = 2_000;
}

words! {
    /// What a text has to look like.
    TextFormat {
        /// Anything.
        Plain = "plain",
        /// An e-mail address.
        Email = "email",
        /// A telephone number.
        Phone = "phone",
        /// A web address.
        Url = "url",
    }
}

/// What a number step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NumberConfig {
    /// Lowest number; unbounded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// Highest number; unbounded when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Most decimal places, 0 to 6. Default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimals: Option<u32>,
    /// Shown behind the number; up to 16 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// The scale of a rating step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RatingConfig {
    /// 0 or 1. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// 3 to 10. Default 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Shown at the low end; up to 40 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_label: Option<String>,
    /// Shown at the high end; up to 40 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_label: Option<String>,
}

impl RatingConfig {
    /// Lowest and highest rating.
    pub fn range(config: Option<&Self>) -> (u32, u32) {
        let given = |pick: fn(&Self) -> Option<u32>| config.and_then(pick);
        (given(|config| config.min).unwrap_or(1), given(|config| config.max).unwrap_or(5))
    }
}

/// What a photo step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhotoConfig {
    /// Fewest photos, 0 to 10. Default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// Most photos, 1 to 10. Default 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Stored, and without effect until drawing on photos exists. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotate: Option<bool>,
    /// Default [`PhotoSource::Camera`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PhotoSource>,
}

impl PhotoConfig {
    /// Fewest and most photos.
    pub fn range(config: Option<&Self>) -> (u32, u32) {
        let given = |pick: fn(&Self) -> Option<u32>| config.and_then(pick);
        (given(|config| config.min).unwrap_or(1), given(|config| config.max).unwrap_or(super::PhotoRule::MOST))
    }
}

words! {
    /// Where photos may come from.
    PhotoSource {
        /// Taken on the spot.
        Camera = "camera",
        /// The gallery as well.
        Any = "any",
    }
}

/// What a signature step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SignatureConfig {
    /// Whether the signer types their name. Default [`SignerName::Optional`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer_name: Option<SignerName>,
}

words! {
    /// Whether the signer types their name.
    SignerName {
        /// Not asked.
        Off = "off",
        /// May be left empty.
        Optional = "optional",
        /// Has to be given.
        Required = "required",
    }
}

/// What an instruction shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InstructionConfig {
    /// Up to 10,000 characters, plain text or a little Markdown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The reader confirms having read it. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acknowledge: Option<bool>,
}

/// What a barcode step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BarcodeConfig {
    /// The kinds looked for; every kind when absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub formats: Option<Vec<BarcodeFormat>>,
    /// The code may be typed in. Default true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_manual: Option<bool>,
    /// Name of the asset's field that should hold the same code; up to 64 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect_asset_field: Option<String>,
}

words! {
    /// A kind of barcode.
    BarcodeFormat {
        /// QR code.
        Qr = "qr",
        /// Code 128.
        Code128 = "code_128",
        /// Code 39.
        Code39 = "code_39",
        /// EAN-13.
        Ean13 = "ean_13",
        /// UPC-A.
        UpcA = "upc_a",
        /// Data Matrix.
        DataMatrix = "data_matrix",
        /// PDF417.
        Pdf417 = "pdf_417",
        /// A vehicle identification number inside Code 39 or QR.
        Vin = "vin",
    }
}

/// What a date and time step takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DatetimeConfig {
    /// Default [`DatetimeMode::Date`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<DatetimeMode>,
    /// Earliest answer, written as the mode says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// Latest answer, written as the mode says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<String>,
}

impl DatetimeConfig {
    /// What is asked for.
    pub fn mode(config: Option<&Self>) -> DatetimeMode {
        config.and_then(|config| config.mode).unwrap_or(DatetimeMode::Date)
    }
}

words! {
    /// What a date and time step asks for.
    DatetimeMode {
        /// A day: `2027-03-01`.
        Date = "date",
        /// A moment in UTC: `2027-03-01T14:05:00Z`.
        Datetime = "datetime",
        /// A time of day: `14:05`, or with seconds.
        Time = "time",
    }
}
