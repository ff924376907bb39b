//! A demo template.

use serde_json::Value;

const HOLIDAY_FLAT: &str = include_str!("../schema/holiday-flat.json");

/// A realistic checklist, the turnover of a holiday flat between guests: every type of step, conditions, photos,
/// demanded proof, points and a translation.
pub fn every_step_type() -> Value {
    serde_json::from_str(HOLIDAY_FLAT).expect("the sample is JSON")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::template::{StepType, Template};

    #[test]
    fn the_sample_is_a_valid_template_with_every_type_of_step() {
        let template = Template::from_document(every_step_type(), &mut |_| unreachable!("it has all ids")).unwrap();
        let types: BTreeSet<StepType> = template.steps().map(|(_, step)| step.step_type()).collect();
        assert_eq!(types, StepType::ALL.iter().copied().collect());
        assert!(template.has_showable_step());
    }

    #[test]
    fn the_sample_comes_back_member_for_member_in_the_same_order() {
        let mut document = every_step_type();
        // In the order of the schema `condition` and `photo` stand before `config`, whatever the author's order was.
        let template = Template::from_document(document.clone(), &mut |_| unreachable!()).unwrap();
        let canonical = template.to_document();
        assert_eq!(canonical, document);
        document = Template::from_document(canonical.clone(), &mut |_| unreachable!()).unwrap().to_document();
        assert_eq!(serde_json::to_string(&document).unwrap(), serde_json::to_string(&canonical).unwrap());
        let read: Template = serde_json::from_value(canonical).unwrap();
        assert_eq!(read, template);
    }
}
