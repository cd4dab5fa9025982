import JSON
import TestKit
import Testing

/// The cases of JSONTestSuite (github.com/nst/JSONTestSuite, by Nicolas Seriot), under its names: what RFC 8259 has
/// a reader accept or refuse, and what it leaves open, with what ours does.
@Suite("JSONTestSuite")
struct JSONTestSuiteTests {
    private static func isRead(_ bytes: [UInt8]) -> Bool {
        (try? JSONDocument(parsing: bytes)) != nil
    }

    static let accepted: [NamedInput] = [
        NamedInput("array_arraysWithSpaces", "[[]   ]"),
        NamedInput("array_empty-string", "[\"\"]"),
        NamedInput("array_empty", "[]"),
        NamedInput("array_ending_with_newline", "[\"a\"]"),
        NamedInput("array_false", "[false]"),
        NamedInput("array_heterogeneous", "[null, 1, \"1\", {}]"),
        NamedInput("array_null", "[null]"),
        NamedInput("array_with_1_and_newline", "[1\n]"),
        NamedInput("array_with_leading_space", " [1]"),
        NamedInput("array_with_several_null", "[1,null,null,null,2]"),
        NamedInput("array_with_trailing_space", "[2] "),
        NamedInput("number", "[123e65]"),
        NamedInput("number_0e+1", "[0e+1]"),
        NamedInput("number_0e1", "[0e1]"),
        NamedInput("number_after_space", "[ 4]"),
        NamedInput(
            "number_double_close_to_zero",
            "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]\n"
        ),
        NamedInput("number_int_with_exp", "[20e1]"),
        NamedInput("number_minus_zero", "[-0]"),
        NamedInput("number_negative_int", "[-123]"),
        NamedInput("number_negative_one", "[-1]"),
        NamedInput("number_negative_zero", "[-0]"),
        NamedInput("number_real_capital_e", "[1E22]"),
        NamedInput("number_real_capital_e_neg_exp", "[1E-2]"),
        NamedInput("number_real_capital_e_pos_exp", "[1E+2]"),
        NamedInput("number_real_exponent", "[123e45]"),
        NamedInput("number_real_fraction_exponent", "[123.456e78]"),
        NamedInput("number_real_neg_exp", "[1e-2]"),
        NamedInput("number_real_pos_exponent", "[1e+2]"),
        NamedInput("number_simple_int", "[123]"),
        NamedInput("number_simple_real", "[123.456789]"),
        NamedInput("object", "{\"asd\":\"sdf\", \"dfg\":\"fgh\"}"),
        NamedInput("object_basic", "{\"asd\":\"sdf\"}"),
        NamedInput("object_empty", "{}"),
        NamedInput("object_empty_key", "{\"\":0}"),
        NamedInput("object_escaped_null_in_key", "{\"foo\\u0000bar\": 42}"),
        NamedInput("object_extreme_numbers", "{ \"min\": -1.0e+28, \"max\": 1.0e+28 }"),
        NamedInput(
            "object_long_strings",
            "{\"x\":[{\"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}], \"id\": \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}"
        ),
        NamedInput("object_simple", "{\"a\":[]}"),
        NamedInput(
            "object_string_unicode",
            "{\"title\":\"\\u041f\\u043e\\u043b\\u0442\\u043e\\u0440\\u0430 \\u0417\\u0435\\u043c\\u043b\\u0435\\u043a\\u043e\\u043f\\u0430\" }"
        ),
        NamedInput("object_with_newlines", "{\n\"a\": \"b\"\n}"),
        NamedInput("string_1_2_3_bytes_UTF-8_sequences", "[\"\\u0060\\u012a\\u12AB\"]"),
        NamedInput("string_accepted_surrogate_pair", "[\"\\uD801\\udc37\"]"),
        NamedInput("string_accepted_surrogate_pairs", "[\"\\ud83d\\ude39\\ud83d\\udc8d\"]"),
        NamedInput("string_allowed_escapes", "[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]"),
        NamedInput("string_backslash_and_u_escaped_zero", "[\"\\\\u0000\"]"),
        NamedInput("string_backslash_doublequotes", "[\"\\\"\"]"),
        NamedInput("string_comments", "[\"a/*b*/c/*d//e\"]"),
        NamedInput("string_double_escape_a", "[\"\\\\a\"]"),
        NamedInput("string_double_escape_n", "[\"\\\\n\"]"),
        NamedInput("string_escaped_control_character", "[\"\\u0012\"]"),
        NamedInput("string_escaped_noncharacter", "[\"\\uFFFF\"]"),
        NamedInput("string_in_array", "[\"asd\"]"),
        NamedInput("string_in_array_with_leading_space", "[ \"asd\"]"),
        NamedInput("string_last_surrogates_1_and_2", "[\"\\uDBFF\\uDFFF\"]"),
        NamedInput("string_nbsp_uescaped", "[\"new\\u00A0line\"]"),
        NamedInput("string_nonCharacterInUTF-8_U+10FFFF", "[\"\u{10FFFF}\"]"),
        NamedInput("string_nonCharacterInUTF-8_U+FFFF", "[\"\u{FFFF}\"]"),
        NamedInput("string_null_escape", "[\"\\u0000\"]"),
        NamedInput("string_one-byte-utf-8", "[\"\\u002c\"]"),
        NamedInput("string_pi", "[\"\u{3C0}\"]"),
        NamedInput("string_reservedCharacterInUTF-8_U+1BFFF", "[\"\u{1BFFF}\"]"),
        NamedInput("string_simple_ascii", "[\"asd \"]"),
        NamedInput("string_space", "\" \""),
        NamedInput("string_surrogates_U+1D11E_MUSICAL_SYMBOL_G_CLEF", "[\"\\uD834\\uDd1e\"]"),
        NamedInput("string_three-byte-utf-8", "[\"\\u0821\"]"),
        NamedInput("string_two-byte-utf-8", "[\"\\u0123\"]"),
        NamedInput("string_u+2028_line_sep", "[\"\u{2028}\"]"),
        NamedInput("string_u+2029_par_sep", "[\"\u{2029}\"]"),
        NamedInput("string_uEscape", "[\"\\u0061\\u30af\\u30EA\\u30b9\"]"),
        NamedInput("string_uescaped_newline", "[\"new\\u000Aline\"]"),
        NamedInput("string_unescaped_char_delete", "[\"\u{7F}\"]"),
        NamedInput("string_unicode", "[\"\\uA66D\"]"),
        NamedInput("string_unicodeEscapedBackslash", "[\"\\u005C\"]"),
        NamedInput("string_unicode_2", "[\"\u{2342}\u{3234}\u{2342}\"]"),
        NamedInput("string_unicode_U+10FFFE_nonchar", "[\"\\uDBFF\\uDFFE\"]"),
        NamedInput("string_unicode_U+1FFFE_nonchar", "[\"\\uD83F\\uDFFE\"]"),
        NamedInput("string_unicode_U+200B_ZERO_WIDTH_SPACE", "[\"\\u200B\"]"),
        NamedInput("string_unicode_U+2064_invisible_plus", "[\"\\u2064\"]"),
        NamedInput("string_unicode_U+FDD0_nonchar", "[\"\\uFDD0\"]"),
        NamedInput("string_unicode_U+FFFE_nonchar", "[\"\\uFFFE\"]"),
        NamedInput("string_unicode_escaped_double_quote", "[\"\\u0022\"]"),
        NamedInput("string_utf8", "[\"\u{20AC}\u{1D11E}\"]"),
        NamedInput("string_with_del_character", "[\"a\u{7F}a\"]"),
        NamedInput("structure_lonely_false", "false"),
        NamedInput("structure_lonely_int", "42"),
        NamedInput("structure_lonely_negative_real", "-0.1"),
        NamedInput("structure_lonely_null", "null"),
        NamedInput("structure_lonely_string", "\"asd\""),
        NamedInput("structure_lonely_true", "true"),
        NamedInput("structure_string_empty", "\"\""),
        NamedInput("structure_trailing_newline", "[\"a\"]\n"),
        NamedInput("structure_true_in_array", "[true]"),
        NamedInput("structure_whitespace_array", " [] "),
    ]

    @Test("what every reader accepts is read", arguments: accepted)
    func isAccepted(input: NamedInput) throws {
        #expect(Self.isRead(input.bytes))
    }

    static let refused: [NamedInput] = [
        NamedInput("array_1_true_without_comma", "[1 true]"),
        NamedInput("array_colon_instead_of_comma", "[\"\": 1]"),
        NamedInput("array_comma_after_close", "[\"\"],"),
        NamedInput("array_comma_and_number", "[,1]"),
        NamedInput("array_double_comma", "[1,,2]"),
        NamedInput("array_double_extra_comma", "[\"x\",,]"),
        NamedInput("array_extra_close", "[\"x\"]]"),
        NamedInput("array_extra_comma", "[\"\",]"),
        NamedInput("array_incomplete", "[\"x\""),
        NamedInput("array_incomplete_invalid_value", "[x"),
        NamedInput("array_inner_array_no_comma", "[3[4]]"),
        NamedInput("array_items_separated_by_semicolon", "[1:2]"),
        NamedInput("array_just_comma", "[,]"),
        NamedInput("array_just_minus", "[-]"),
        NamedInput("array_missing_value", "[   , \"\"]"),
        NamedInput("array_newlines_unclosed", "[\"a\",\n4\n,1,"),
        NamedInput("array_number_and_comma", "[1,]"),
        NamedInput("array_number_and_several_commas", "[1,,]"),
        NamedInput("array_spaces_vertical_tab_formfeed", "[\"\u{B}a\"\\f]"),
        NamedInput("array_star_inside", "[*]"),
        NamedInput("array_unclosed", "[\"\""),
        NamedInput("array_unclosed_trailing_comma", "[1,"),
        NamedInput("array_unclosed_with_new_lines", "[1,\n1\n,1"),
        NamedInput("array_unclosed_with_object_inside", "[{}"),
        NamedInput("incomplete_false", "[fals]"),
        NamedInput("incomplete_null", "[nul]"),
        NamedInput("incomplete_true", "[tru]"),
        NamedInput("multidigit_number_then_00", "123\u{0}"),
        NamedInput("number_++", "[++1234]"),
        NamedInput("number_+1", "[+1]"),
        NamedInput("number_+Inf", "[+Inf]"),
        NamedInput("number_-01", "[-01]"),
        NamedInput("number_-1.0.", "[-1.0.]"),
        NamedInput("number_-2.", "[-2.]"),
        NamedInput("number_-NaN", "[-NaN]"),
        NamedInput("number_.-1", "[.-1]"),
        NamedInput("number_.2e-3", "[.2e-3]"),
        NamedInput("number_0.1.2", "[0.1.2]"),
        NamedInput("number_0.3e+", "[0.3e+]"),
        NamedInput("number_0.3e", "[0.3e]"),
        NamedInput("number_0.e1", "[0.e1]"),
        NamedInput("number_0_capital_E+", "[0E+]"),
        NamedInput("number_0_capital_E", "[0E]"),
        NamedInput("number_0e+", "[0e+]"),
        NamedInput("number_0e", "[0e]"),
        NamedInput("number_1.0e+", "[1.0e+]"),
        NamedInput("number_1.0e-", "[1.0e-]"),
        NamedInput("number_1.0e", "[1.0e]"),
        NamedInput("number_1_000", "[1 000.0]"),
        NamedInput("number_1eE2", "[1eE2]"),
        NamedInput("number_2.e+3", "[2.e+3]"),
        NamedInput("number_2.e-3", "[2.e-3]"),
        NamedInput("number_2.e3", "[2.e3]"),
        NamedInput("number_9.e+", "[9.e+]"),
        NamedInput("number_Inf", "[Inf]"),
        NamedInput("number_NaN", "[NaN]"),
        NamedInput("number_U+FF11_fullwidth_digit_one", "[\u{FF11}]"),
        NamedInput("number_expression", "[1+2]"),
        NamedInput("number_hex_1_digit", "[0x1]"),
        NamedInput("number_hex_2_digits", "[0x42]"),
        NamedInput("number_infinity", "[Infinity]"),
        NamedInput("number_invalid+-", "[0e+-1]"),
        NamedInput("number_invalid-negative-real", "[-123.123foo]"),
        NamedInput("number_minus_infinity", "[-Infinity]"),
        NamedInput("number_minus_sign_with_trailing_garbage", "[-foo]"),
        NamedInput("number_minus_space_1", "[- 1]"),
        NamedInput("number_neg_int_starting_with_zero", "[-012]"),
        NamedInput("number_neg_real_without_int_part", "[-.123]"),
        NamedInput("number_neg_with_garbage_at_end", "[-1x]"),
        NamedInput("number_real_garbage_after_e", "[1ea]"),
        NamedInput("number_real_without_fractional_part", "[1.]"),
        NamedInput("number_starting_with_dot", "[.123]"),
        NamedInput("number_with_alpha", "[1.2a-3]"),
        NamedInput("number_with_alpha_char", "[1.8011670033376514H-308]"),
        NamedInput("number_with_leading_zero", "[012]"),
        NamedInput("object_bad_value", "[\"x\", truth]"),
        NamedInput("object_bracket_key", "{[: \"x\"}\n"),
        NamedInput("object_comma_instead_of_colon", "{\"x\", null}"),
        NamedInput("object_double_colon", "{\"x\"::\"b\"}"),
        NamedInput("object_emoji", "{\u{1F1E8}\u{1F1ED}}"),
        NamedInput("object_garbage_at_end", "{\"a\":\"a\" 123}"),
        NamedInput("object_key_with_single_quotes", "{key: 'value'}"),
        NamedInput("object_missing_colon", "{\"a\" b}"),
        NamedInput("object_missing_key", "{:\"b\"}"),
        NamedInput("object_missing_semicolon", "{\"a\" \"b\"}"),
        NamedInput("object_missing_value", "{\"a\":"),
        NamedInput("object_no-colon", "{\"a\""),
        NamedInput("object_non_string_key", "{1:1}"),
        NamedInput("object_non_string_key_but_huge_number_instead", "{9999E9999:1}"),
        NamedInput("object_repeated_null_null", "{null:null,null:null}"),
        NamedInput("object_several_trailing_commas", "{\"id\":0,,,,,}"),
        NamedInput("object_single_quote", "{'a':0}"),
        NamedInput("object_trailing_comma", "{\"id\":0,}"),
        NamedInput("object_trailing_comment", "{\"a\":\"b\"}/**/"),
        NamedInput("object_trailing_comment_open", "{\"a\":\"b\"}/**//"),
        NamedInput("object_trailing_comment_slash_open", "{\"a\":\"b\"}//"),
        NamedInput("object_trailing_comment_slash_open_incomplete", "{\"a\":\"b\"}/"),
        NamedInput("object_two_commas_in_a_row", "{\"a\":\"b\",,\"c\":\"d\"}"),
        NamedInput("object_unquoted_key", "{a: \"b\"}"),
        NamedInput("object_unterminated-value", "{\"a\":\"a"),
        NamedInput("object_with_single_string", "{ \"foo\" : \"bar\", \"a\" }"),
        NamedInput("object_with_trailing_garbage", "{\"a\":\"b\"}#"),
        NamedInput("single_space", " "),
        NamedInput("string_1_surrogate_then_escape", "[\"\\uD800\\\"]"),
        NamedInput("string_1_surrogate_then_escape_u", "[\"\\uD800\\u\"]"),
        NamedInput("string_1_surrogate_then_escape_u1", "[\"\\uD800\\u1\"]"),
        NamedInput("string_1_surrogate_then_escape_u1x", "[\"\\uD800\\u1x\"]"),
        NamedInput("string_accentuated_char_no_quotes", "[\u{E9}]"),
        NamedInput("string_backslash_00", "[\"\\\u{0}\"]"),
        NamedInput("string_escape_x", "[\"\\x00\"]"),
        NamedInput("string_escaped_backslash_bad", "[\"\\\\\\\"]"),
        NamedInput("string_escaped_ctrl_char_tab", "[\"\\\t\"]"),
        NamedInput("string_escaped_emoji", "[\"\\\u{1F300}\"]"),
        NamedInput("string_incomplete_escape", "[\"\\\"]"),
        NamedInput("string_incomplete_escaped_character", "[\"\\u00A\"]"),
        NamedInput("string_incomplete_surrogate", "[\"\\uD834\\uDd\"]"),
        NamedInput("string_incomplete_surrogate_escape_invalid", "[\"\\uD800\\uD800\\x\"]"),
        NamedInput("string_invalid_backslash_esc", "[\"\\a\"]"),
        NamedInput("string_invalid_unicode_escape", "[\"\\uqqqq\"]"),
        NamedInput("string_leading_uescaped_thinspace", "[\\u0020\"asd\"]"),
        NamedInput("string_no_quotes_with_bad_escape", "[\\n]"),
        NamedInput("string_single_doublequote", "\""),
        NamedInput("string_single_quote", "['single quote']"),
        NamedInput("string_single_string_no_double_quotes", "abc"),
        NamedInput("string_start_escape_unclosed", "[\"\\"),
        NamedInput("string_unescaped_ctrl_char", "[\"a\u{0}a\"]"),
        NamedInput("string_unescaped_newline", "[\"new\nline\"]"),
        NamedInput("string_unescaped_tab", "[\"\t\"]"),
        NamedInput("string_unicode_CapitalU", "\"\\UA66D\""),
        NamedInput("string_with_trailing_garbage", "\"\"x"),
        NamedInput("structure_U+2060_word_joined", "[\u{2060}]"),
        NamedInput("structure_UTF8_BOM_no_data", "\u{FEFF}"),
        NamedInput("structure_angle_bracket_.", "<.>"),
        NamedInput("structure_angle_bracket_null", "[<null>]"),
        NamedInput("structure_array_trailing_garbage", "[1]x"),
        NamedInput("structure_array_with_extra_array_close", "[1]]"),
        NamedInput("structure_array_with_unclosed_string", "[\"asd]"),
        NamedInput("structure_ascii-unicode-identifier", "a\u{E5}"),
        NamedInput("structure_capitalized_True", "[True]"),
        NamedInput("structure_close_unopened_array", "1]"),
        NamedInput("structure_comma_instead_of_closing_brace", "{\"x\": true,"),
        NamedInput("structure_double_array", "[][]"),
        NamedInput("structure_end_array", "]"),
        NamedInput("structure_lone-open-bracket", "["),
        NamedInput("structure_no_data", ""),
        NamedInput("structure_null-byte-outside-string", "[\u{0}]"),
        NamedInput("structure_number_with_trailing_garbage", "2@"),
        NamedInput("structure_object_followed_by_closing_object", "{}}"),
        NamedInput("structure_object_unclosed_no_value", "{\"\":"),
        NamedInput("structure_object_with_comment", "{\"a\":/*comment*/\"b\"}"),
        NamedInput("structure_object_with_trailing_garbage", "{\"a\": true} \"x\""),
        NamedInput("structure_open_array_apostrophe", "['"),
        NamedInput("structure_open_array_comma", "[,"),
        NamedInput("structure_open_array_open_object", "[{"),
        NamedInput("structure_open_array_open_string", "[\"a"),
        NamedInput("structure_open_array_string", "[\"a\""),
        NamedInput("structure_open_object", "{"),
        NamedInput("structure_open_object_close_array", "{]"),
        NamedInput("structure_open_object_comma", "{,"),
        NamedInput("structure_open_object_open_array", "{["),
        NamedInput("structure_open_object_open_string", "{\"a"),
        NamedInput("structure_open_object_string_with_apostrophes", "{'a'"),
        NamedInput("structure_open_open", "[\"\\{[\"\\{[\"\\{[\"\\{"),
        NamedInput("structure_single_star", "*"),
        NamedInput("structure_trailing_#", "{\"a\":\"b\"}#{}"),
        NamedInput("structure_uescaped_LF_before_string", "[\\u000A\"\"]"),
        NamedInput("structure_unclosed_array", "[1"),
        NamedInput("structure_unclosed_array_partial_null", "[ false, nul"),
        NamedInput("structure_unclosed_array_unfinished_false", "[ true, fals"),
        NamedInput("structure_unclosed_array_unfinished_true", "[ false, tru"),
        NamedInput("structure_unclosed_object", "{\"asd\":\"asd\""),
        NamedInput("structure_unicode-identifier", "\u{E5}"),
        NamedInput("structure_whitespace_U+2060_word_joiner", "[\u{2060}]"),
        NamedInput("structure_whitespace_formfeed", "[\u{C}]"),
        NamedInput("array_a_invalid_utf8", digits: "5b61e55d"),
        NamedInput("array_invalid_utf8", digits: "5bff5d"),
        NamedInput("number_invalid-utf-8-in-bigger-int", digits: "5b313233e55d"),
        NamedInput("number_invalid-utf-8-in-exponent", digits: "5b316531e55d"),
        NamedInput("number_invalid-utf-8-in-int", digits: "5b30e55d0a"),
        NamedInput("number_real_with_invalid_utf8_after_e", digits: "5b3165e55d"),
        NamedInput(
            "object_lone_continuation_byte_in_key_and_trailing_comma",
            digits: "7b22b9223a2230222c7d"),
        NamedInput("string_invalid-utf-8-in-escape", digits: "5b225c75e5225d"),
        NamedInput("string_invalid_utf8_after_escape", digits: "5b225ce5225d"),
        NamedInput("structure_incomplete_UTF8_BOM", digits: "efbb7b7d"),
        NamedInput("structure_lone-invalid-utf-8", digits: "e5"),
        NamedInput("structure_single_eacute", digits: "e9"),
    ]

    @Test("what every reader refuses is refused", arguments: refused)
    func isRefused(input: NamedInput) throws {
        #expect(!Self.isRead(input.bytes))
    }

    static let openAccepted: [NamedInput] = [
        NamedInput("number_double_huge_neg_exp", "[123.456e-789]"),
        NamedInput("number_real_underflow", "[123e-10000000]"),
    ]

    @Test("of what is left open, numbers near 0 are read as 0", arguments: openAccepted)
    func isOpenAccepted(input: NamedInput) throws {
        #expect(Self.isRead(input.bytes))
    }

    static let openOutOfRange: [NamedInput] = [
        NamedInput(
            "number_huge_exp",
            "[0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999969999999006]"
        ),
        NamedInput("number_neg_int_huge_exp", "[-1e+9999]"),
        NamedInput("number_pos_double_huge_exp", "[1.5e+9999]"),
        NamedInput("number_real_neg_overflow", "[-123123e100000]"),
        NamedInput("number_real_pos_overflow", "[123123e100000]"),
        NamedInput("number_too_big_neg_int", "[-123123123123123123123123123123]"),
        NamedInput("number_too_big_pos_int", "[100000000000000000000]"),
        NamedInput(
            "number_very_big_negative_int", "[-237462374673276894279832749832423479823246327846]"),
    ]

    @Test(
        "of what is left open, numbers that no integer or double holds are refused where they are used",
        arguments: openOutOfRange)
    func isOpenOutOfRange(input: NamedInput) throws {
        #expect(throws: JSONRangeError.self) { try JSONDocument(parsing: input.bytes).value() }
    }

    static let openRefused: [NamedInput] = [
        NamedInput("object_key_lone_2nd_surrogate", "{\"\\uDFAA\":0}"),
        NamedInput("string_1st_surrogate_but_2nd_missing", "[\"\\uDADA\"]"),
        NamedInput("string_1st_valid_surrogate_2nd_invalid", "[\"\\uD888\\u1234\"]"),
        NamedInput("string_incomplete_surrogate_and_escape_valid", "[\"\\uD800\\n\"]"),
        NamedInput("string_incomplete_surrogate_pair", "[\"\\uDd1ea\"]"),
        NamedInput("string_incomplete_surrogates_escape_valid", "[\"\\uD800\\uD800\\n\"]"),
        NamedInput("string_invalid_lonely_surrogate", "[\"\\ud800\"]"),
        NamedInput("string_invalid_surrogate", "[\"\\ud800abc\"]"),
        NamedInput("string_inverted_surrogates_U+1D11E", "[\"\\uDd1e\\uD834\"]"),
        NamedInput("string_lone_second_surrogate", "[\"\\uDFAA\"]"),
        NamedInput("structure_UTF-8_BOM_empty_object", "\u{FEFF}{}"),
        NamedInput("string_UTF-16LE_with_BOM", digits: "fffe5b002200e90022005d00"),
        NamedInput("string_UTF-8_invalid_sequence", digits: "5b22e697a5d188fa225d"),
        NamedInput("string_UTF8_surrogate_U+D800", digits: "5b22eda080225d"),
        NamedInput("string_invalid_utf-8", digits: "5b22ff225d"),
        NamedInput("string_iso_latin_1", digits: "5b22e9225d"),
        NamedInput("string_lone_utf8_continuation_byte", digits: "5b2281225d"),
        NamedInput("string_not_in_unicode_range", digits: "5b22f4bfbfbf225d"),
        NamedInput("string_overlong_sequence_2_bytes", digits: "5b22c0af225d"),
        NamedInput("string_overlong_sequence_6_bytes", digits: "5b22fc83bfbfbfbf225d"),
        NamedInput("string_overlong_sequence_6_bytes_null", digits: "5b22fc8080808080225d"),
        NamedInput("string_truncated-utf-8", digits: "5b22e0ff225d"),
        NamedInput("string_utf16BE_no_BOM", digits: "005b002200e90022005d"),
        NamedInput("string_utf16LE_no_BOM", digits: "5b002200e90022005d00"),
    ]

    @Test(
        "of what is left open, text that is not UTF-8, lone surrogates and a byte order mark are refused",
        arguments: openRefused)
    func isOpenRefused(input: NamedInput) throws {
        #expect(!Self.isRead(input.bytes))
    }

    @Test(
        "where we differ: a key that is there twice is refused, since readers do not agree which of the two counts"
    )
    func duplicateKeys() {
        for text in [#"{"a":"b","a":"c"}"#, #"{"a":"b","a":"b"}"#] {
            #expect(throws: JSONError(.duplicateKey, at: 9)) {
                try JSONDocument(parsing: text.utf8)
            }
        }
    }

    @Test("what is nested deeper than 64 is refused")
    func nested() {
        let open = { (text: String, count: Int) in Array(String(repeating: text, count: count).utf8)
        }
        #expect(!Self.isRead(open("[", 100_000)))
        #expect(!Self.isRead(open(#"[{"":"#, 50_000)))
        #expect(!Self.isRead(open("[", 500) + open("]", 500)))
    }
}
