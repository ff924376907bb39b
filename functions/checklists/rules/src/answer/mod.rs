//! Answers: how they are stored, and whether a step accepts them.
//!
//! | type | value |
//! | --- | --- |
//! | `boolean` | `true` or `false` |
//! | `choice` | id of one option |
//! | `multi_choice` | list of different option ids |
//! | `text` | string, not blank; one line unless the template says otherwise |
//! | `number` | number, with as many decimal places as the template allows |
//! | `rating` | whole number on the scale |
//! | `photo` | null: the photos are the answer |
//! | `signature` | address or id of the image |
//! | `instruction` | null: acknowledged |
//! | `barcode` | string |
//! | `datetime` | `2027-03-01`, `2027-03-01T14:05:00Z` or `14:05`, as the mode says |

mod evidence;
pub(crate) mod moment;
mod value;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use value::{MAX_NAME_CHARS, compile_pattern, is_email, is_image, is_phone};

pub use evidence::{Demand, MAX_NOTE_CHARS, Proof, check_skip, demanded};

use crate::decimal;
use crate::template::{Step, StepKind, StepType};
use crate::word::words;

/// What an executor said about a step: a value, or that they skip it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said<'a> {
    /// The value of an answer.
    Value(&'a Value),
    /// An explicit skip.
    Skip,
}

/// The answer to a step, as it is stored. It carries the step's label and type, so that it can be read without the
/// template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The step's label when it was answered.
    pub label: String,
    /// The step's type.
    pub r#type: StepType,
    /// The value, whose shape depends on the type; null for photos, acknowledgements and skips.
    pub value: Value,
    /// Photos, in the order of their index.
    #[serde(default)]
    pub photos: Vec<Photo>,
    /// The place, where it was asked for and known.
    #[serde(default)]
    pub geo: Option<Geo>,
    /// When the server accepted it.
    pub at: Timestamp,
    /// Who gave it, as the caller names executors.
    pub by: String,
    /// A remark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The step was skipped explicitly.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// When it was given, by the phone's clock corrected by the server's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
    /// The phone's time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// It arrived after the run had expired, from a session opened before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
    /// How a barcode was entered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Entry>,
    /// The name typed beside a signature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer_name: Option<String>,
    /// The run's revision that wrote it: rises with every write, never comes back after the answer was cleared.
    pub rev: u64,
}

impl Answer {
    /// Whether the step was skipped instead of answered.
    pub const fn is_skipped(&self) -> bool {
        self.skipped
    }

    /// What it says.
    pub const fn said(&self) -> Said<'_> {
        if self.skipped { Said::Skip } else { Said::Value(&self.value) }
    }

    /// Photos whose full picture has arrived.
    pub fn stored_photos(&self) -> u32 {
        count(&self.photos, |photo| photo.state == PhotoState::Stored)
    }

    /// Whether it has the same photos in the same places, however far their upload is.
    pub(crate) fn has_photos_of(&self, given: &Given) -> bool {
        let place = |photo: &Photo| (photo.photo_index, photo.photo_id.clone());
        let sorted = |photos: &[Photo]| {
            let mut places: Vec<_> = photos.iter().map(place).collect();
            places.sort();
            places
        };
        sorted(&self.photos) == sorted(&given.photos)
    }

    /// Whether it says the same as what is given now, whatever the time and the sender.
    pub(crate) fn says(&self, given: &Given) -> bool {
        !self.skipped
            && is_same_value(&self.value, &given.value)
            && self.has_photos_of(given)
            && self.geo == given.geo
            && self.note == given.note
            && self.entry == given.entry
            && self.signer_name == given.signer_name
    }
}

/// A photo of an answer. Its addresses are made when it is read and are not part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Photo {
    /// `p-` and a UUID.
    pub photo_id: String,
    /// Place among the step's photos, from 0.
    pub photo_index: u32,
    /// Pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<u32>,
    /// Size of the stored picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Digest of the stored picture, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// When it was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured_at: Option<Timestamp>,
    /// How far its upload is.
    pub state: PhotoState,
}

words! {
    /// How far the upload of a photo is.
    PhotoState {
        /// Announced; the picture is under way.
        Pending = "pending",
        /// Received and checked.
        Stored = "stored",
        /// Given up.
        Failed = "failed",
    }
}

/// A place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Geo {
    /// Degrees north, -90 to 90.
    pub lat: f64,
    /// Degrees east, -180 to 180.
    pub lng: f64,
    /// Radius in metres, 0 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<f64>,
}

words! {
    /// How a barcode was entered.
    Entry {
        /// Read by the camera.
        Scan = "scan",
        /// Typed in.
        Manual = "manual",
    }
}

/// What an executor gives as an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Given {
    /// The value, whose shape depends on the type of the step.
    #[serde(default)]
    pub value: Value,
    /// Photos, with the states that the server knows.
    #[serde(default)]
    pub photos: Vec<Photo>,
    /// The place, where the step asks for it; refusing it never blocks.
    #[serde(default)]
    pub geo: Option<Geo>,
    /// A remark.
    #[serde(default)]
    pub note: Option<String>,
    /// How a barcode was entered; scanned when absent.
    #[serde(default)]
    pub entry: Option<Entry>,
    /// The name typed beside a signature.
    #[serde(default)]
    pub signer_name: Option<String>,
}

/// Why a step does not accept an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Something given is not what the step takes. Holds which member, and a sentence that says what to change.
    Unfit {
        /// Name of the member of the answer: `value`, `photos`, `geo`, `note`, `entry` or `signer_name`.
        member: &'static str,
        /// What to change.
        message: String,
    },
    /// The answer stands, and asks for proof that is not there.
    EvidenceMissing(Vec<Proof>),
}

impl Fault {
    fn unfit(member: &'static str, message: impl Into<String>) -> Self {
        Self::Unfit { member, message: message.into() }
    }
}

impl Given {
    /// An answer that is a value alone.
    pub fn value(value: impl Into<Value>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }

    /// Checks everything that is given against the step: the value first, then what stands beside it, then whether the
    /// proof that this answer asks for is there. Photos under way count here; handing in waits until they are stored.
    pub fn check(&self, step: &Step) -> Result<(), Fault> {
        value::check(step, &self.value).map_err(|message| Fault::unfit("value", message))?;
        self.check_signer(step)?;
        self.check_entry(step)?;
        self.check_geo(step)?;
        evidence::check(step, self)
    }

    fn check_signer(&self, step: &Step) -> Result<(), Fault> {
        use crate::template::SignerName;
        let policy = match &step.kind {
            StepKind::Signature(config) => config.as_ref().and_then(|config| config.signer_name).unwrap_or(SignerName::Optional),
            _ => SignerName::Off,
        };
        let name = self.signer_name.as_deref();
        if name.is_some_and(|name| name.trim().is_empty() || name.chars().count() > MAX_NAME_CHARS) {
            let most = MAX_NAME_CHARS;
            return Err(Fault::unfit("signer_name", format!("Give a name of 1 to {most} characters.")));
        }
        match (policy, name) {
            (SignerName::Required, None) => Err(Fault::unfit("signer_name", "Give the name of the signer.")),
            (SignerName::Off, Some(_)) => Err(Fault::unfit("signer_name", "Leave the name out; none is asked for.")),
            _ => Ok(()),
        }
    }

    fn check_entry(&self, step: &Step) -> Result<(), Fault> {
        match (&step.kind, self.entry) {
            (StepKind::Barcode(config), Some(Entry::Manual)) if config.as_ref().and_then(|config| config.allow_manual) == Some(false) => {
                Err(Fault::unfit("entry", "Scan the code; typing it in is not allowed here."))
            }
            (StepKind::Barcode(_), _) | (_, None) => Ok(()),
            (_, Some(_)) => Err(Fault::unfit("entry", "Leave entry out; it belongs to barcodes.")),
        }
    }

    fn check_geo(&self, step: &Step) -> Result<(), Fault> {
        let Some(geo) = self.geo else { return Ok(()) };
        if step.geo != Some(true) {
            return Err(Fault::unfit("geo", "Leave the place out; this step does not ask for it."));
        }
        let fits = (-90.0..=90.0).contains(&geo.lat)
            && (-180.0..=180.0).contains(&geo.lng)
            && geo.accuracy.is_none_or(|metres| metres.is_finite() && metres >= 0.0);
        if fits {
            Ok(())
        } else {
            Err(Fault::unfit("geo", "Give lat from -90 to 90, lng from -180 to 180 and accuracy in metres from 0 up."))
        }
    }
}

/// Whether two values answer a step alike. Numbers are compared and not their spelling, since a phone may write 5 as 5.0;
/// anything else, lists of option ids included, is the same as it stands or not at all.
pub(crate) fn is_same_value(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => decimal::compare(one, other).is_eq(),
        _ => one == other,
    }
}

fn count(photos: &[Photo], counts: impl Fn(&Photo) -> bool) -> u32 {
    u32::try_from(photos.iter().filter(|photo| counts(photo)).count()).unwrap_or(u32::MAX)
}
