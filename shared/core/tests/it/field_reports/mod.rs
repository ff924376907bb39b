//! Faults that people met in systems like this one, areas 1 to 6. Each has a number, and a test keeps the right answer.
//! The files beside this one hold what no other test tries.
//!
//! | case | what went wrong elsewhere | where the right answer is kept |
//! | --- | --- | --- |
//! | D1 | the opening GET drew 400, and the client never went on to POST | `core transport::every_method_but_post_gets_405_before_the_key_is_looked_at` |
//! | D3 | the key was asked for before the method was looked at | `core transport::every_method_but_post_gets_405_before_the_key_is_looked_at` |
//! | D5 | a client gave up on a 405 that it could not read | `core transport::every_method_but_post_gets_405_before_the_key_is_looked_at` |
//! | D7 | who accepts JSON alone got 406 | `core transport::accept_is_never_required_and_the_answer_is_always_json` |
//! | D9 | a notification drew a body of null | `core field_reports::http_surface::the_notification_after_a_handshake_gets_202_and_not_a_byte`, `core envelope::a_notification_is_accepted_without_a_body_whatever_it_is_called` |
//! | D11 | the headers of a 202 differed from door to door | `cloud events::a_notification_gets_an_empty_body`, `core envelope::a_notification_is_accepted_without_a_body_whatever_it_is_called` |
//! | D13 | a newer version in the handshake was an error | `core versions::initialize_answers_any_other_version_with_the_products_own` |
//! | D15 | a version that is not served was told in plain text | `core modern::a_version_that_is_not_served_is_refused_with_those_that_are` |
//! | D17 | empty or new capabilities broke the handshake | `core versions::what_a_client_says_of_itself_is_never_in_the_way` |
//! | D19 | a session in one instance's memory was unknown to the next | `core field_reports::http_surface::the_first_request_to_each_of_twenty_new_instances_may_be_a_call`, `core transport::no_session_is_asked_for_and_none_is_made` |
//! | D21 | lists that a server of tools lacks were asked for and not told so | `core versions::ping_is_answered_and_the_lists_of_other_features_are_unknown_methods`, `core versions::initialize_promises_tools_and_nothing_else`, `core modern::methods_that_2026_removed_or_never_had_are_404` |
//! | D23 | ids that are text | `core field_reports::envelope::every_answer_gives_the_id_back_byte_for_byte`, `core envelope::ids_are_echoed_byte_for_byte` |
//! | D25 | ids that a float rounds | `core field_reports::envelope::every_answer_gives_the_id_back_byte_for_byte`, `core field_reports::envelope::an_id_that_is_no_id_is_refused_whatever_is_asked_and_the_next_request_is_served` |
//! | D27 | ids that are no ids | `core field_reports::envelope::an_id_that_is_no_id_is_refused_whatever_is_asked_and_the_next_request_is_served`, `core envelope::an_id_that_is_neither_text_nor_a_whole_number_is_refused` |
//! | D29 | a batch over stdio was never answered | `core stdio::a_batch_is_refused_by_one_line_and_the_next_line_is_served` |
//! | D31 | a byte order mark before the body | `core field_reports::envelope::a_list_that_is_asked_for_behind_a_byte_order_mark_is_the_same_list`, `core envelope::a_byte_order_mark_is_passed_over` |
//! | D33 | half a surrogate pair, and a byte that is no text | `core envelope::what_is_no_json_is_a_parse_error_and_changes_nothing`, `checklists field_reports::half_a_surrogate_pair_and_a_byte_that_is_no_text_store_nothing` |
//! | D35 | a name that stands twice in one object | `core envelope::a_member_named_twice_is_refused_at_any_depth_and_nothing_is_done`, `core envelope::a_member_named_twice_in_arguments_sent_as_text_burns_nothing`, `checklists field_reports::an_argument_that_is_given_twice_deletes_nothing` |
//! | D37 | a charset beside the content type | `core transport::json_in_utf_8_is_taken_however_its_type_is_written` |
//! | D39 | a body in base64 was read as it was | `cloud events::every_door_tells_the_same`, `cloud events::an_event_that_holds_no_request_is_refused_with_400` |
//! | D41 | the local emulator and the cloud differed | `cloud events::every_door_tells_the_same`, `stack plain_http::plain_http_tells_the_same`, `cloud refusals::another_format_is_refused_in_words_that_every_door_carries` |
//! | D43 | one spelling of a header's name was found, the other not | `cloud events::every_door_tells_the_same`, `cloud events::an_event_that_lacks_something_is_answered_by_the_endpoint`, `cloud refusals::another_format_is_refused_in_words_that_every_door_carries` |
//! | D45 | blanks around a key | `core transport::blanks_and_case_around_the_key_are_free_and_a_second_key_is_none` |
//! | D47 | a redirect lost the key or the method | `core transport::one_trailing_slash_and_a_query_string_are_served_directly` |
//! | D49 | a panic held the call until its time was over | `core calls::a_tool_that_panics_has_failed_inside_and_the_next_call_is_served` |
//! | D51 | a compressed body was not unpacked, or was | `core field_reports::front_door::a_small_body_that_unpacks_to_ten_megabytes_is_415_and_stays_small`, `core transport::a_compressed_body_is_415_and_is_never_unpacked` |
//! | D53 | the newer headers were not allowed to pages | `core cors::the_preflight_of_a_permitted_page_allows_every_header_that_clients_send` |
//! | D55 | the header with the key was not allowed to pages | `core cors::the_preflight_of_a_permitted_page_allows_every_header_that_clients_send` |
//! | D57 | the guard against rebinding shut out good callers | `core cors::a_page_of_a_foreign_origin_is_403_and_a_program_without_one_is_served` |
//! | D59 | a 401 without a challenge | `core transport::without_a_valid_key_the_answer_is_401_in_plain_text_with_a_challenge`, `core transport::the_challenge_of_a_product_with_sign_in_names_its_metadata` |
//! | D61 | text went out as base64 | `cloud events::every_door_tells_the_same`, `cloud events::an_event_stream_goes_out_as_text`, `core results::a_picture_stands_after_the_text` |
//! | D63 | a wrong name of a tool was a failed tool | `core field_reports::tool_calls::a_name_that_is_not_exactly_a_tools_is_unknown`, `core calls::names_match_exactly_and_the_refusal_tells_which_there_are`, `checklists field_reports::a_tool_is_called_by_its_exact_name` |
//! | D65 | a failing store became an HTTP error | `core calls::a_failure_inside_shows_the_request_id_and_hides_its_cause`, `checklists faults::a_table_that_stays_down_is_told_without_a_word_of_the_table` |
//! | D67 | a made-up cursor began again at page one | `core versions::the_list_has_one_page_and_a_made_up_cursor_is_refused`, `checklists field_reports::a_made_up_cursor_is_refused_by_the_protocols_list_and_by_the_tools` |
//! | D69 | arguments left out were refused | `core coercion::arguments_left_out_or_null_or_empty_are_the_same`, `checklists field_reports::arguments_that_are_missing_null_or_empty_are_the_same` |
//! | D71 | objects and arrays came as text | `core field_reports::tool_calls::an_object_or_a_list_as_text_is_read_by_every_product_and_what_holds_more_is_refused_by_name`, `checklists field_reports::objects_and_arrays_may_come_as_json_text_and_text_is_never_parsed` |
//! | D73 | whole numbers came as 30.0 | `core field_reports::tool_calls::a_whole_number_with_a_point_or_a_power_is_one_to_every_product`, `checklists field_reports::a_whole_number_may_be_written_with_a_point_or_a_power` |
//! | D75 | a misspelt argument was passed over | `core calls::a_misspelt_argument_is_refused_by_name_and_the_tool_does_not_run`, `core field_reports::tool_calls::an_argument_that_a_tool_passes_on_and_nobody_knows_is_refused_by_name`, `checklists runs::a_misspelt_argument_is_named_with_the_valid_ones_and_no_run_is_made` |
//! | D77 | a text could not be emptied | `core field_reports::tool_calls::a_text_is_kept_when_it_is_left_out_emptied_by_an_empty_one_and_not_by_null`, `checklists field_reports::a_text_is_kept_when_left_out_emptied_by_an_empty_one_and_not_by_null` |
//! | D79 | structured content was a bare array | `core results::structured_content_is_an_object_also_where_the_list_in_it_is_empty`, `checklists field_reports::structured_content_is_an_object_with_a_named_list_also_when_that_is_empty` |
//! | D81 | a refusal broke the tool's output schema | `core field_reports::tool_calls::a_refusal_by_any_tool_holds_no_value_or_one_that_its_output_schema_admits`, `checklists catalog::every_tool_can_refuse_and_a_refusal_is_text_alone` |
//! | D83 | large whole numbers were rounded | `core results::a_large_whole_number_keeps_every_digit_in_both_places`, `core field_reports::tool_calls::numbers_that_a_float_cannot_carry_keep_their_digits_in_free_content`, `checklists field_reports::a_number_that_readers_would_round_is_refused_and_every_other_keeps_its_digits` |
//! | D85 | a combinator at the root of a schema | `core schemas::the_root_of_every_schema_is_an_object_with_properties_and_no_combinator`, `core field_reports::tool_schemas::what_a_model_is_shown_is_the_same_in_every_version_and_under_every_ruling`, `checklists catalog::the_list_keeps_to_the_rules_of_every_catalog` |
//! | D87 | references that clients do not follow | `core schemas::nothing_is_referred_to`, `core field_reports::tool_schemas::the_schema_of_a_result_is_as_plain_under_every_ruling`, `checklists catalog::the_list_keeps_to_the_rules_of_every_catalog` |
//! | D89 | no properties where there are no arguments | `core schemas::the_root_of_every_schema_is_an_object_with_properties_and_no_combinator`, `checklists catalog::the_list_keeps_to_the_rules_of_every_catalog` |
//! | D91 | lists of types, arrays of anything, odd formats | `core schemas::types_are_one_name_and_lists_say_what_they_hold`, `checklists catalog::the_list_keeps_to_the_rules_of_every_catalog` |
//! | D93 | dots and blanks in names | `core schemas::names_are_of_letters_digits_and_underscores`, `checklists catalog::the_list_keeps_to_the_rules_of_every_catalog` |
//! | D95 | an answer was too large for its reader and lost whole | `core field_reports::size_and_time::a_list_that_grew_too_long_says_how_to_ask_for_less_and_then_comes`, `checklists asset_lists::a_page_without_a_limit_holds_fifty`, `checklists asset_lists::a_page_of_large_assets_holds_fewer_and_loses_none` |
//! | D97 | an answer was larger than Lambda carries | `core calls::a_too_large_answer_is_refused_whole_and_names_the_argument_that_narrows_it`, `core calls::the_limit_of_an_answer_is_one_number_to_the_byte_and_measured_on_the_whole_body` |
//! | D99 | a silent limit below the documented one | `core transport::the_limit_of_a_body_is_one_number_to_the_byte` |
//! | D101 | the gateway cut a long call with 504 | `cloud events::a_call_that_hangs_is_answered_before_its_time_is_over` |
//! | D103 | never sent and sent without an answer looked alike | `core field_reports::size_and_time::a_failure_that_may_have_changed_something_says_to_read_back_first`, `checklists assets::a_write_whose_answer_is_lost_is_done_once_and_reported_as_done` |
//! | D105 | a tool that creates said it is idempotent | `core results::a_call_that_says_it_is_idempotent_leaves_the_same_state_when_it_is_repeated`, `checklists catalog::a_call_that_says_it_is_idempotent_leaves_the_same_state_when_it_is_repeated` |
//! | D107 | the handshake waited for what it did not need | `core field_reports::size_and_time::one_lookup_of_the_key_is_all_that_a_request_waits_for`, `core field_reports::size_and_time::while_the_key_store_is_down_whatever_needs_a_key_is_503_and_nothing_else_is`, `core transport::a_key_store_that_does_not_answer_is_503_with_a_time_to_come_back` |
//!
//! Where a proposal that came with a case is overruled, the test says so. What is tried under a ruling and not yet on the
//! product that has it: D71, D73, D75, D79 and D99 on rent and agents, whose own tools and limits of a body are not there
//! yet, and the infinity of D83, which only a tool that answers queries can have. What needs a deployed stack: the platform's
//! own limits of D97, and the front door of D101.

pub(crate) mod map;

mod envelope;
mod front_door;
mod http_surface;
mod size_and_time;
mod tool_calls;
mod tool_schemas;

/// The cases of each area.
const AREAS: [(&str, &[u32]); 6] = [
    ("HTTP surface", &[1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21]),
    ("JSON-RPC envelope", &[23, 25, 27, 29, 31, 33, 35]),
    ("headers, encodings, front door", &[37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61]),
    ("tool calls", &[63, 65, 67, 69, 71, 73, 75, 77, 79, 81, 83]),
    ("tool schemas", &[85, 87, 89, 91, 93]),
    ("size, time, retries", &[95, 97, 99, 101, 103, 105, 107]),
];

/// The cases without a test. The table says what is left to do.
const LEFT: &[u32] = &[];

/// A case is lost when its number is struck from the comment of its only test, when the table leads to a test that is
/// gone, or when what is left is forgotten.
#[test]
fn every_case_has_a_test_that_names_it_and_a_place_in_the_table() {
    let tests = map::tests_of_the_workspace();
    let table: Vec<map::Row> = map::rows(include_str!("mod.rs")).collect();
    let known: Vec<u32> = AREAS.iter().flat_map(|(_, cases)| cases.iter().copied()).collect();
    let listed: Vec<u32> = table.iter().flat_map(|row| map::cases_in(&row.what)).collect();
    assert_eq!(listed, known, "the table has one row a case, in order");

    let mut wrong = Vec::new();
    for (case, row) in known.iter().zip(&table) {
        let names_it = |place: &String| tests.get(place).is_some_and(|comment| map::cases_in(comment).contains(case));
        wrong.extend(
            row.places.iter().filter(|place| !tests.contains_key(*place)).map(|place| format!("D{case}: there is no test {place}")),
        );
        match (LEFT.contains(case), row.places.iter().any(names_it)) {
            (false, false) => wrong.push(format!("D{case}: none of the tests in its row names it")),
            (true, true) => wrong.push(format!("D{case} is no longer left")),
            (true, false) if !row.text.starts_with("left: ") => wrong.push(format!("D{case}: the table does not say what is left")),
            _ => {}
        }
        let anywhere = tests.values().any(|comment| map::cases_in(comment).contains(case));
        if anywhere == LEFT.contains(case) {
            wrong.push(format!("D{case}: {}", if anywhere { "a test names it" } else { "no test names it" }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));

    for (area, cases) in AREAS {
        let kept = cases.iter().filter(|case| !LEFT.contains(case)).count();
        println!("field reports, {area}: {kept} of {} cases", cases.len());
    }
    println!("field reports: {} of {} cases", known.len() - LEFT.len(), known.len());
}
