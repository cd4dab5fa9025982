import Settings
import TestKit
import Testing

/// The cases of toml-test (github.com/toml-lang/toml-test) for TOML 1.0.0 that are at most 90 bytes long, under its
/// names. We differ in none.
@Suite("toml-test")
struct TOMLTestSuiteTests {
    private static func isRead(_ bytes: [UInt8]) -> Bool {
        (try? TOMLDocument(bytes: bytes)) != nil
    }

    static let valid: [NamedInput] = [
        NamedInput(
            "array/array-subtables",
            "[[arr]]\n[arr.subtab]\nval=1\n\n[[arr]]\n[arr.subtab]\nval=2\n"),
        NamedInput("array/bool", "a = [true, false]"),
        NamedInput("array/empty", "thevoid = [[[[[]]]]]"),
        NamedInput("array/hetergeneous", "mixed = [[1, 2], [\"a\", \"b\"], [1.1, 2.1]]"),
        NamedInput(
            "array/mixed-int-array", "arrays-and-ints =  [1, [\"Arrays are not integers.\"]]"),
        NamedInput("array/mixed-int-float", "ints-and-floats = [1, 1.1]"),
        NamedInput("array/mixed-int-string", "strings-and-ints = [\"hi\", 42]"),
        NamedInput("array/nested-double", "nest = [\n\t[\n\t\t[\"a\"],\n\t\t[1, 2, [3]]\n\t]\n]\n"),
        NamedInput("array/nested-inline-table", "a = [ { b = {} } ]"),
        NamedInput("array/nested", "nest = [[\"a\"], [\"b\"]]"),
        NamedInput("array/nospaces", "ints = [1,2,3]"),
        NamedInput(
            "array/open-parent-table",
            "[[parent-table.arr]]\n[[parent-table.arr]]\n[parent-table]\nnot-arr = 1\n"
        ),
        NamedInput(
            "array/string-quote-comma-01",
            "title = [\n\"Client: \\\"XXXX\\\", Job: XXXX\",\n\"Code: XXXX\"\n]\n"
        ),
        NamedInput("array/string-quote-comma-02", "title = [ \" \\\", \",]"),
        NamedInput(
            "array/string-with-comma-01",
            "title = [\n\"Client: XXXX, Job: XXXX\",\n\"Code: XXXX\"\n]\n"
        ),
        NamedInput(
            "array/string-with-comma-02",
            "title = [\n\"\"\"Client: XXXX,\nJob: XXXX\"\"\",\n\"Code: XXXX\"\n]\n"
        ),
        NamedInput(
            "array/strings",
            "string_array = [ \"all\", 'strings', \"\"\"are the same\"\"\", '''type''']"
        ),
        NamedInput("array/table-array-string-backslash", "foo = [ { bar=\"\\\"{{baz}}\\\"\"} ]"),
        NamedInput(
            "array/trailing-comma",
            "arr-1 = [1,]\n\narr-2 = [2,3,]\n\narr-3 = [4,\n]\n\narr-4 = [\n\t5,\n\t6,\n]\n"
        ),
        NamedInput("bool/bool", "t = true\nf = false\n"),
        NamedInput(
            "comment/after-literal-no-ws",
            "inf=inf#infinity\nnan=nan#not a number\ntrue=true#true\nfalse=false#false\n"
        ),
        NamedInput(
            "comment/at-eof",
            "# This is a full-line comment\nkey = \"value\" # This is a comment at the end of a line\n"
        ),
        NamedInput(
            "comment/at-eof2",
            "# This is a full-line comment\nkey = \"value\" # This is a comment at the end of a line\n"
        ),
        NamedInput("comment/noeol", "# single comment without any eol characters"),
        NamedInput(
            "comment/nonascii", "# ~ \u{80} \u{FF} \u{D7FF} \u{E000} \u{FFFF} \u{10000} \u{10FFFF}"),
        NamedInput("datetime/invalid-date-in-string", "s = '2020-01-01x'"),
        NamedInput("datetime/local-date", "bestdayever = 1987-07-05"),
        NamedInput("datetime/local-time", "besttimeever = 17:45:00\nmilliseconds = 10:32:00.555\n"),
        NamedInput(
            "datetime/local",
            "local = 1987-07-05T17:45:00\nmilli = 1977-12-21T10:32:00.555\nspace = 1987-07-05 17:45:00\n"
        ),
        NamedInput("empty-crlf", "\r\n"),
        NamedInput("empty-lf", ""),
        NamedInput("empty-nothing", ""),
        NamedInput("empty-space", " "),
        NamedInput("empty-tab", "\t"),
        NamedInput("float/long", "longpi = 3.141592653589793\nneglongpi = -3.141592653589793\n"),
        NamedInput(
            "float/underscore", "before = 3_141.5927\nafter = 3141.592_7\nexponent = 3e1_4\n"),
        NamedInput("implicit-and-explicit-after", "[a.b.c]\nanswer = 42\n\n[a]\nbetter = 43\n"),
        NamedInput("implicit-and-explicit-before", "[a]\nbetter = 43\n\n[a.b.c]\nanswer = 42\n"),
        NamedInput("implicit-groups", "[a.b.c]\nanswer = 42\n"),
        NamedInput(
            "inline-table/array-03",
            "b = { a = [\n\t\t1,\n\t\t2,\n\t], b = [\n\t\t3,\n\t\t4,\n\t]}\n"
        ),
        NamedInput("inline-table/bool", "a = {a = true, b = false}"),
        NamedInput(
            "inline-table/end-in-bool",
            "black = { python=\">3.6\", version=\">=18.9b0\", allow_prereleases=true }"
        ),
        NamedInput(
            "inline-table/key-dotted-02", "many.dots.here.dot.dot.dot = {a.b.c = 1, a.b.d = 2}"),
        NamedInput(
            "inline-table/key-dotted-03", "[tbl]\na.b.c = {d.e=1}\n\n[tbl.x]\na.b.c = {d.e=1}\n"),
        NamedInput(
            "inline-table/key-dotted-04",
            "[[arr]]\nt = {a.b=1}\nT = {a.b=1}\n\n[[arr]]\nt = {a.b=2}\nT = {a.b=2}\n"
        ),
        NamedInput(
            "inline-table/key-dotted-06",
            "top.dot.dot = [\n\t{dot.dot.dot = 1},\n\t{dot.dot.dot = 2},\n]\n"
        ),
        NamedInput("inline-table/key-dotted-07", "arr = [\n\t{a.b = [{c.d = 1}]}\n]\n"),
        NamedInput(
            "inline-table/multiline",
            "tbl_multiline = { a = 1, b = \"\"\"\nmultiline\n\"\"\", c = \"\"\"and yet\nanother line\"\"\", d = 4 }\n"
        ),
        NamedInput("integer/integer", "answer = 42\nposanswer = +42\nneganswer = -42\nzero = 0\n"),
        NamedInput("integer/underscore", "kilo = 1_000\nx = 1_1_1_1\n"),
        NamedInput(
            "key/dotted-01",
            "name.first = \"Arthur\"\n\"name\".'last' = \"Dent\"\n\nmany.dots.dot.dot.dot = 42\n"
        ),
        NamedInput(
            "key/dotted-04",
            "top.key = 1\n\n[[arr]]\na.b.c=1\na.b.d=2\n\n[[arr]]\na.b.c=3\na.b.d=4\n\n"
        ),
        NamedInput(
            "key/dotted-empty",
            "''.x = \"empty.x\"\nx.\"\" = \"x.empty\"\n[a]\n\"\".'' = \"empty.empty\"\n"
        ),
        NamedInput("key/empty-01", "\"\" = \"blank\""),
        NamedInput("key/empty-02", "'' = \"blank\""),
        NamedInput("key/empty-03", "''=0"),
        NamedInput("key/equals-nospace", "answer=42"),
        NamedInput("key/numeric-01", "1     = true"),
        NamedInput("key/numeric-02", "1.2   = true"),
        NamedInput("key/numeric-03", "0123  = true"),
        NamedInput("key/numeric-04", "01.23 = true"),
        NamedInput("key/numeric-05", "23.01 = true"),
        NamedInput("key/numeric-06", "-1    = true"),
        NamedInput("key/numeric-07", "-01   = true"),
        NamedInput("key/numeric-08", "1  = 'one'\n01 = 'zero one'\n"),
        NamedInput("key/special-chars", "\"=~!@$^&*()_+-`1234567890[]|/?><.,;:'=\" = 1"),
        NamedInput(
            "key/special-word",
            "false = false\ntrue = 1\ninf = 100000000\nnan = \"ceci n'est pas un nombre\"\n\n"
        ),
        NamedInput("key/zero", "0=0"),
        NamedInput("newline-crlf", "os = \"DOS\"\r\nnewline = \"crlf\"\r\n"),
        NamedInput("newline-lf", "os = \"unix\"\nnewline = \"lf\"\n"),
        NamedInput("string/basic-escape-01", "# Escape \"\ntest = \"\\\"one\\\"\"\n"),
        NamedInput("string/basic-escape-02", "# Escape \\ and then \"\ntest = \"\\\\\\\"one\"\n"),
        NamedInput(
            "string/basic-escape-03",
            "# Escape \\ four times and then \"\ntest = \"\\\\\\\\\\\\\\\\\\\"one\"\n"
        ),
        NamedInput("string/empty", "answer = \"\""),
        NamedInput(
            "string/ends-in-whitespace-escape",
            "beee = \"\"\"\nheeee\ngeeee\\  \n\n\n      \"\"\"\n"),
        NamedInput("string/escaped-escape", "answer = \"\\\\x64\""),
        NamedInput("string/raw-empty", "empty = ''"),
        NamedInput("string/simple", "answer = \"You are not drinking enough whisky.\""),
        NamedInput(
            "table/array-empty-name",
            "# Silly thing to do, but valid.\n\n[['']]\na = 1\n[['']]\na = 2\n"
        ),
        NamedInput("table/array-empty", "[[a]]"),
        NamedInput("table/array-implicit-and-explicit-after", "[[a.b]]\nx = 1\n\n[a]\ny = 2\n"),
        NamedInput("table/array-implicit", "[[albums.songs]]\nname = \"Glory Days\"\n"),
        NamedInput(
            "table/array-one", "[[people]]\nfirst_name = \"Bruce\"\nlast_name = \"Springsteen\"\n"),
        NamedInput(
            "table/array-within-dotted",
            "[fruit]\napple.color = \"red\"\n\n[[fruit.apple.seeds]]\nsize = 2\n"
        ),
        NamedInput("table/empty-name", "['']\nx = 1\n\n[\"\".a]\nx = 2\n\n[a.'']\nx = 3\n"),
        NamedInput("table/empty", "[a]"),
        NamedInput(
            "table/keyword-with-values",
            "[true]\nk = 1\n\n[false]\nk = 2\n\n[inf]\nk = 3\n\n[nan]\nk = 4\n"
        ),
        NamedInput("table/keyword", "[true]\n\n[false]\n\n[inf]\n\n[nan]\n\n\n"),
        NamedInput(
            "table/names",
            "[a.b.c]\n[a.\"b.c\"]\n[a.'d.e']\n[a.' x ']\n[ d.e.f ]\n[ g . h . i ]\n[ j . \"\u{29E}\" . 'l' ]\n\n[x.1.2]\n"
        ),
        NamedInput("table/no-eol-01", "# No newline at end of file.\n[table]"),
        NamedInput("table/no-eol-02", "# No newline at end of file.\n[table]\na=1"),
        NamedInput("table/sub-empty", "[a]\n[a.b]\n"),
        NamedInput("table/whitespace", "[\"valid key\"]"),
        NamedInput(
            "table/with-literal-string", "['a']\n[a.'\"b\"']\n[a.'\"b\"'.c]\nanswer = 42 \n"),
        NamedInput("table/with-pound", "[\"key#group\"]\nanswer = 42\n"),
        NamedInput("table/with-single-quotes", "['a']\n[a.'b']\n[a.'b'.c]\nanswer = 42 \n"),
    ]

    @Test("what is TOML is read", arguments: valid)
    func isValid(input: NamedInput) throws {
        #expect(Self.isRead(input.bytes))
    }

    static let invalid: [NamedInput] = [
        NamedInput("array/double-comma-01", "double-comma-01 = [1,,2]"),
        NamedInput("array/double-comma-02", "double-comma-02 = [1,2,,]"),
        NamedInput("array/extend-defined-aot", "[[tab.arr]]\n[tab]\narr.val1=1\n"),
        NamedInput("array/missing-separator-01", "arrr = [true false]"),
        NamedInput("array/missing-separator-02", "wrong = [ 1 2 3 ]"),
        NamedInput("array/no-close-01", "no-close-01 = [ 1, 2, 3"),
        NamedInput("array/no-close-02", "no-close-02 = [1,"),
        NamedInput("array/no-close-03", "no-close-03 = [42 #]"),
        NamedInput("array/no-close-04", "no-close-04 = [{ key = 42"),
        NamedInput("array/no-close-05", "no-close-05 = [{ key = 42}"),
        NamedInput("array/no-close-06", "no-close-06 = [{ key = 42 #}]"),
        NamedInput("array/no-close-07", "no-close-07 = [{ key = 42} #]"),
        NamedInput("array/no-close-08", "no-close-08 = ["),
        NamedInput("array/no-close-table-01", "no-close-table-01 = [{ key = 42"),
        NamedInput("array/no-close-table-02", "no-close-table-02 = [{ key = 42 #"),
        NamedInput("array/no-close-table-03", "no-close-table-03 = [1,{a=1]"),
        NamedInput("array/no-close-table-04", "no-close-table-04 = [1,{2]"),
        NamedInput("array/no-comma-01", "no-comma-01 = [true false]"),
        NamedInput("array/no-comma-02", "no-comma-02 = [ 1 2 3 ]"),
        NamedInput("array/no-comma-03", "no-comma-03 = [ 1 #,]"),
        NamedInput("array/only-comma-01", "only-comma-01 = [,]"),
        NamedInput("array/only-comma-02", "only-comma-02 = [,,]"),
        NamedInput(
            "array/tables-01", "# INVALID TOML DOC\nfruit = []\n\n[[fruit]] # Not allowed\n"),
        NamedInput(
            "array/text-after-array-entries",
            "array = [\n  \"Is there life after an array separator?\", No\n  \"Entry\"\n]\n"
        ),
        NamedInput(
            "array/text-before-array-separator",
            "array = [\n  \"Is there life before an array separator?\" No,\n  \"Entry\"\n]\n"
        ),
        NamedInput(
            "array/text-in-array",
            "array = [\n  \"Entry 1\",\n  I don't belong,\n  \"Entry 2\",\n]\n"
        ),
        NamedInput("bool/almost-false-with-extra", "almost-false-with-extra = falsify"),
        NamedInput("bool/almost-false", "almost-false            = fals"),
        NamedInput("bool/almost-true-with-extra", "almost-true-with-extra  = truthy"),
        NamedInput("bool/almost-true", "almost-true             = tru"),
        NamedInput("bool/capitalized-false", "capitalized-false        = False"),
        NamedInput("bool/capitalized-true", "capitalized-true         = True"),
        NamedInput("bool/just-f", "just-f                  = f"),
        NamedInput("bool/just-t", "just-t                  = t"),
        NamedInput("bool/mixed-case-false", "mixed-case-false        = falsE"),
        NamedInput("bool/mixed-case-true", "mixed-case-true         = trUe"),
        NamedInput("bool/mixed-case", "mixed-case              = valid   = False"),
        NamedInput("bool/starting-same-false", "starting-same-false     = falsey"),
        NamedInput("bool/starting-same-true", "starting-same-true      = truer"),
        NamedInput("bool/wrong-case-false", "wrong-case-false        = FALSE"),
        NamedInput("bool/wrong-case-true", "wrong-case-true         = TRUE"),
        NamedInput(
            "control/bare-cr",
            "# The following line contains a single carriage return control character\r\n\r"
        ),
        NamedInput("control/bare-formfeed", "bare-formfeed     = \u{C}\n"),
        NamedInput("control/bare-null", "bare-null         = \"some value\" \u{0}\n"),
        NamedInput("control/bare-vertical-tab", "bare-vertical-tab = \u{B}\n"),
        NamedInput("control/comment-cr", "comment-cr   = \"Carriage return in comment\" # \ra=1\n"),
        NamedInput("control/comment-del", "comment-del  = \"0x7f\"   # \u{7F}\n"),
        NamedInput("control/comment-ff", "comment-ff   = \"0x7f\"   # \u{C}\n"),
        NamedInput("control/comment-lf", "comment-lf   = \"ctrl-P\" # \u{10}\n"),
        NamedInput("control/comment-null", "comment-null = \"null\"   # \u{0}\n"),
        NamedInput("control/comment-us", "comment-us   = \"ctrl-_\" # \u{1F}\n"),
        NamedInput("control/linetab-number-01", "linetab-number-01 = 1\u{B}\n"),
        NamedInput("control/linetab-number-02", "linetab-number-02 = 1.5\u{B}\n"),
        NamedInput("control/linetab-number-03", "linetab-number-03 = 0xff\u{B}\n"),
        NamedInput("control/linetab-number-04", "linetab-number-04 = +inf\u{B}\n"),
        NamedInput("control/multi-del", "multi-del  = \"\"\"null\u{7F}\"\"\"\n"),
        NamedInput("control/multi-lf", "multi-lf   = \"\"\"null\u{10}\"\"\"\n"),
        NamedInput("control/multi-null", "multi-null = \"\"\"null\u{0}\"\"\"\n"),
        NamedInput("control/multi-us", "multi-us   = \"\"\"null\u{1F}\"\"\"\n"),
        NamedInput("control/only-ff", "\u{C}"),
        NamedInput("control/only-null", "\u{0}"),
        NamedInput("control/only-vt", "\u{B}"),
        NamedInput("control/rawmulti-del", "rawmulti-del  = '''null\u{7F}'''\n"),
        NamedInput("control/rawmulti-lf", "rawmulti-lf   = '''null\u{10}'''\n"),
        NamedInput("control/rawmulti-null", "rawmulti-null = '''null\u{0}'''\n"),
        NamedInput("control/rawmulti-us", "rawmulti-us   = '''null\u{1F}'''\n"),
        NamedInput("control/rawstring-cr", "rawstring-cr   = 'null\r'\n"),
        NamedInput("control/rawstring-del", "rawstring-del  = 'null\u{7F}'\n"),
        NamedInput("control/rawstring-lf", "rawstring-lf   = 'null\u{10}'\n"),
        NamedInput("control/rawstring-null", "rawstring-null = 'null\u{0}'\n"),
        NamedInput("control/rawstring-us", "rawstring-us   = 'null\u{1F}'\n"),
        NamedInput("control/string-bs", "string-bs   = \"backspace\u{8}\"\n"),
        NamedInput("control/string-cr", "string-cr   = \"null\r\"\n"),
        NamedInput("control/string-del", "string-del  = \"null\u{7F}\"\n"),
        NamedInput("control/string-lf", "string-lf   = \"null\u{10}\"\n"),
        NamedInput("control/string-null", "string-null = \"null\u{0}\"\n"),
        NamedInput("control/string-us", "string-us   = \"null\u{1F}\"\n"),
        NamedInput("datetime/day-zero", "foo = 1997-09-00T09:09:09.09Z"),
        NamedInput("datetime/feb-29", "\"not a leap year\" = 2100-02-29T15:15:15Z"),
        NamedInput("datetime/feb-30", "\"only 28 or 29 days in february\" = 1988-02-30T15:15:15Z"),
        NamedInput(
            "datetime/hour-over",
            "# time-hour       = 2DIGIT  ; 00-23\nd = 2006-01-01T24:00:00-00:00\n"
        ),
        NamedInput(
            "datetime/leading-zero-date", "# No leading zero on year allowed.\nd = 02026-05-07\n"),
        NamedInput(
            "datetime/leading-zero-datetime",
            "# No leading zero on year allowed.\nd = 02026-05-07T14:15:16Z\n"
        ),
        NamedInput(
            "datetime/minute-over",
            "# time-minute     = 2DIGIT  ; 00-59\nd = 2006-01-01T00:60:00-00:00\n"
        ),
        NamedInput(
            "datetime/month-over",
            "# date-month      = 2DIGIT  ; 01-12\nd = 2006-13-01T00:00:00-00:00\n"
        ),
        NamedInput(
            "datetime/month-under",
            "# date-month      = 2DIGIT  ; 01-12\nd = 2007-00-01T00:00:00-00:00\n"
        ),
        NamedInput("datetime/no-date-time-sep", "foo = 1997-09-0909:09:09"),
        NamedInput(
            "datetime/no-leads-month",
            "# Month \"7\" instead of \"07\"; the leading zero is required.\nno-leads = 1987-7-05T17:45:00Z\n"
        ),
        NamedInput(
            "datetime/no-leads",
            "# Month \"7\" instead of \"07\"; the leading zero is required.\nno-leads = 1987-7-05T17:45:00Z\n"
        ),
        NamedInput("datetime/no-secs", "# No seconds in time.\nno-secs = 1987-07-05T17:45Z\n"),
        NamedInput(
            "datetime/no-t",
            "# No \"t\" or \"T\" between the date and time.\nno-t = 1987-07-0517:45:00Z\n"
        ),
        NamedInput("datetime/no-year-month-sep", "foo = 199709-09"),
        NamedInput("datetime/offset-minus-minute-1digit", "foo = 1997-09-09T09:09:09.09+09:9"),
        NamedInput("datetime/offset-minus-no-hour-minute-sep", "foo = 1997-09-09T09:09:09.09+0909"),
        NamedInput("datetime/offset-minus-no-hour-minute", "foo = 1997-09-09T09:09:09.09+"),
        NamedInput("datetime/offset-minus-no-minute", "foo = 1997-09-09T09:09:09.09+09"),
        NamedInput(
            "datetime/offset-overflow-hour", "# Hour must be 00-24\nd = 1985-06-18 17:04:07+25:00\n"
        ),
        NamedInput("datetime/offset-overflow-minute", "d = 1985-06-18 17:04:07+12:60"),
        NamedInput("datetime/offset-plus-minute-1digit", "foo = 1997-09-09T09:09:09.09+09:9"),
        NamedInput("datetime/offset-plus-no-hour-minute-sep", "foo = 1997-09-09T09:09:09.09+0909"),
        NamedInput("datetime/offset-plus-no-hour-minute", "foo = 1997-09-09T09:09:09.09+"),
        NamedInput("datetime/offset-plus-no-minute", "foo = 1997-09-09T09:09:09.09+09"),
        NamedInput("datetime/only-T", "foo = T"),
        NamedInput("datetime/only-TZ", "foo = TZ"),
        NamedInput("datetime/only-Tdot", "foo = T."),
        NamedInput("datetime/second-trailing-dot", "foo = 1997-09-09T09:09:09."),
        NamedInput("datetime/second-trailing-dotz", "foo = 2016-09-09T09:09:09.Z"),
        NamedInput(
            "datetime/time-no-leads", "# Leading 0 is always required.\nd = 2023-10-01T1:32:00Z\n"),
        NamedInput("datetime/trailing-x", "sign=2020-01-01x"),
        NamedInput("datetime/y10k-date", "# Maximum RFC3399 year is 9999.\nd = 10000-01-01\n"),
        NamedInput(
            "datetime/y10k-datetime", "# Maximum RFC3399 year is 9999.\nd = 10000-01-01 00:00:00z\n"
        ),
        NamedInput(
            "encoding/bom-not-at-start-01", "# Contains UTF-8 BOM between = and 1\na=\u{FEFF}1\n"),
        NamedInput(
            "encoding/bom-not-at-start-02",
            "\u{FEFF}\u{FEFF}# Contains two UTF-8 BOMS at the start\na=1\n"
        ),
        NamedInput(
            "encoding/bom-not-at-start-03",
            "\u{FEFF}\u{FEFF}a=1\n# Contains two UTF-8 BOMS at the start\n"
        ),
        NamedInput(
            "encoding/ideographic-space",
            "# First on next line is U+3000 IDEOGRAPHIC SPACE\n\u{3000}foo = \"bar\"\n"
        ),
        NamedInput(
            "encoding/utf16-comment",
            "\u{0}#\u{0} \u{0}U\u{0}T\u{0}F\u{0}-\u{0}1\u{0}6\u{0} \u{0}w\u{0}i\u{0}t\u{0}h\u{0}o\u{0}u\u{0}t\u{0} \u{0}B\u{0}O\u{0}M\u{0}\n"
        ),
        NamedInput("encoding/utf16-key", "\u{0}k\u{0} \u{0}=\u{0} \u{0}\"\u{0}v\u{0}\"\u{0}\n"),
        NamedInput("float/arabic-zero-01", "arabic-zero-01 = 1.\u{660}"),
        NamedInput("float/arabic-zero-02", "arabic-zero-02 = \u{660}"),
        NamedInput("float/arabic-zero-03", "arabic-zero-03 = 1e\u{660}"),
        NamedInput("float/arabic-zero-04", "arabic-zero-04 = +\u{660}"),
        NamedInput("float/double-dot-01", "double-dot-01 = 0..1"),
        NamedInput("float/double-dot-02", "double-dot-02 = 0.1.2"),
        NamedInput("float/exp-dot-01", "exp-dot-01 = 1e2.3"),
        NamedInput("float/exp-dot-02", "exp-dot-02 = 1.e2"),
        NamedInput("float/exp-dot-03", "exp-dot-03 = 3.e+20"),
        NamedInput("float/exp-double-e-01", "exp-double-e-01 = 1ee2"),
        NamedInput("float/exp-double-e-02", "exp-double-e-02 = 1e2e3"),
        NamedInput("float/exp-double-us", "exp-double-us = 1e__23"),
        NamedInput("float/exp-leading-us", "exp-leading-us = 1e_23"),
        NamedInput("float/exp-trailing-us-01", "exp-trailing-us-01 = 1_e2"),
        NamedInput("float/exp-trailing-us-02", "exp-trailing-us-02 = 1.2_e2"),
        NamedInput("float/exp-trailing-us", "exp-trailing-us = 1e23_"),
        NamedInput("float/inf-capital", "v = Inf"),
        NamedInput("float/inf-incomplete-01", "inf-incomplete-01 = in"),
        NamedInput("float/inf-incomplete-02", "inf-incomplete-02 = +in"),
        NamedInput("float/inf-incomplete-03", "inf-incomplete-03 = -in"),
        NamedInput("float/inf_underscore", "inf_underscore = in_f"),
        NamedInput("float/leading-dot-neg", "leading-dot-neg = -.12345"),
        NamedInput("float/leading-dot-plus", "leading-dot-plus = +.12345"),
        NamedInput("float/leading-dot", "leading-dot = .12345"),
        NamedInput("float/leading-us", "leading-us = _1.2"),
        NamedInput("float/leading-zero-neg", "leading-zero-neg = -03.14"),
        NamedInput("float/leading-zero-plus", "leading-zero-plus = +03.14"),
        NamedInput("float/leading-zero", "leading-zero = 03.14"),
        NamedInput("float/nan-capital", "v = NaN"),
        NamedInput("float/nan-incomplete-01", "nan-incomplete-01 = na"),
        NamedInput("float/nan-incomplete-02", "nan-incomplete-02 = +na"),
        NamedInput("float/nan-incomplete-03", "nan-incomplete-03 = -na"),
        NamedInput("float/nan_underscore", "nan_underscore = na_n"),
        NamedInput("float/trailing-dot-01", "trailing-point = 1."),
        NamedInput("float/trailing-dot-02", "a = 1.\nb = 2\n"),
        NamedInput("float/trailing-dot-min", "trailing-dot-min = -1."),
        NamedInput("float/trailing-dot-plus", "trailing-dot-plus = +1."),
        NamedInput("float/trailing-dot", "trailing-dot = 1."),
        NamedInput("float/trailing-exp-dot", "trailing-exp-dot =  0.e"),
        NamedInput("float/trailing-exp-minus", "trailing-exp-minus = 0.0e-"),
        NamedInput("float/trailing-exp-plus", "trailing-exp-plus = 0.0e+"),
        NamedInput("float/trailing-exp", "trailing-exp = 0.0E"),
        NamedInput("float/trailing-us-exp-01", "trailing-us-exp-1 = 1_e2"),
        NamedInput("float/trailing-us-exp-02", "trailing-us-exp-2 = 1.2_e2"),
        NamedInput("float/trailing-us", "trailing-us = 1.2_"),
        NamedInput("float/us-after-dot", "us-after-dot = 1._2"),
        NamedInput("float/us-before-dot", "us-before-dot = 1_.2"),
        NamedInput("inline-table/bad-key-syntax", "tbl = { a = 1, [b] }"),
        NamedInput("inline-table/double-comma", "t = {x=3,,y=4}"),
        NamedInput(
            "inline-table/duplicate-key-01",
            "# Duplicate keys within an inline table are invalid\na={b=1, b=2}\n"
        ),
        NamedInput(
            "inline-table/duplicate-key-02", "table1 = { table2.dupe = 1, table2.dupe = 2 }"),
        NamedInput(
            "inline-table/duplicate-key-03",
            "tbl = { fruit = { apple.color = \"red\" }, fruit.apple.texture = { smooth = true } }\n\n"
        ),
        NamedInput("inline-table/duplicate-key-04", "tbl = { a.b = \"a_b\", a.b.c = \"a_b_c\" }"),
        NamedInput("inline-table/empty-01", "t = {,}"),
        NamedInput("inline-table/empty-02", "t = {,\n}\n"),
        NamedInput("inline-table/empty-03", "t = {\n,\n}\n"),
        NamedInput("inline-table/linebreak-02", "t = {a=1,\nb=2}\n"),
        NamedInput("inline-table/linebreak-03", "t = {a=1\n,b=2}\n"),
        NamedInput(
            "inline-table/linebreak-04",
            "json_like = {\n          first = \"Tom\",\n          last = \"Preston-Werner\"\n}\n"
        ),
        NamedInput("inline-table/no-close-01", "a={"),
        NamedInput("inline-table/no-close-02", "a={b=1"),
        NamedInput("inline-table/no-comma-01", "t = {x = 3 y = 4}"),
        NamedInput(
            "inline-table/no-comma-02", "arrr = { comma-missing = true valid-toml = false }"),
        NamedInput(
            "inline-table/overwrite-01",
            "a.b=0\n# Since table \"a\" is already defined, it can't be replaced by an inline table.\na={}\n"
        ),
        NamedInput(
            "inline-table/overwrite-02",
            "a={}\n# Inline tables are immutable and can't be extended\n[a.b]\n"
        ),
        NamedInput("inline-table/overwrite-03", "a = { b = 1 }\na.b = 2\n"),
        NamedInput("inline-table/overwrite-04", "inline-t = { nest = {} }\n\n[[inline-t.nest]]\n"),
        NamedInput("inline-table/overwrite-05", "inline-t = { nest = {} }\n\n[inline-t.nest]\n"),
        NamedInput("inline-table/overwrite-06", "a = { b = 1, b.c = 2 }"),
        NamedInput(
            "inline-table/overwrite-07", "tab = { inner.table = [{}], inner.table.val = \"bad\" }"),
        NamedInput(
            "inline-table/overwrite-08",
            "tab = { inner = { dog = \"best\" }, inner.cat = \"worst\" }"
        ),
        NamedInput(
            "inline-table/overwrite-09",
            "[tab.nested]\ninline-t = { nest = {} }\n\n[tab]\nnested.inline-t.nest = 2\n"
        ),
        NamedInput("integer/arabic-zero-01", "arabic-zero-01 = 1\u{660}"),
        NamedInput("integer/arabic-zero-02", "arabic-zero-02 = 1_0\u{660}"),
        NamedInput("integer/arabic-zero-03", "arabic-zero-03 = \u{660}.1"),
        NamedInput("integer/arabic-zero-04", "arabic-zero-04 = \u{660}e0"),
        NamedInput("integer/capital-bin", "capital-bin = 0B0"),
        NamedInput("integer/capital-hex", "capital-hex = 0X1"),
        NamedInput("integer/capital-oct", "capital-oct = 0O0"),
        NamedInput("integer/double-sign-nex", "double-sign-nex = --99"),
        NamedInput("integer/double-sign-plus", "double-sign-plus = ++99"),
        NamedInput("integer/double-us", "double-us = 1__23"),
        NamedInput("integer/incomplete-bin", "incomplete-bin = 0b"),
        NamedInput("integer/incomplete-hex", "incomplete-hex = 0x"),
        NamedInput("integer/incomplete-oct", "incomplete-oct = 0o"),
        NamedInput("integer/invalid-bin", "invalid-bin = 0b0012"),
        NamedInput("integer/invalid-hex-01", "invalid-hex-01 = 0xaafz"),
        NamedInput("integer/invalid-hex-02", "invalid-hex-02 = 0xgabba00f1"),
        NamedInput("integer/invalid-hex-03", "a = 0x-1"),
        NamedInput("integer/invalid-oct", "invalid-oct = 0o778"),
        NamedInput("integer/leading-us-bin", "leading-us-bin = _0b1"),
        NamedInput("integer/leading-us-hex", "leading-us-hex = _0x1"),
        NamedInput("integer/leading-us-oct", "leading-us-oct = _0o1"),
        NamedInput("integer/leading-us", "leading-us = _123"),
        NamedInput("integer/leading-zero-01", "leading-zero-01 = 01"),
        NamedInput("integer/leading-zero-02", "leading-zero-02 = 00"),
        NamedInput("integer/leading-zero-03", "leading-zero-03 = 0_0"),
        NamedInput("integer/leading-zero-sign-01", "leading-zero-sign-01 = -01"),
        NamedInput("integer/leading-zero-sign-02", "leading-zero-sign-02 = +01"),
        NamedInput("integer/leading-zero-sign-03", "leading-zero-sign-03 = +0_1"),
        NamedInput("integer/negative-bin", "negative-bin = -0b11010110"),
        NamedInput("integer/negative-hex", "negative-hex = -0xff"),
        NamedInput("integer/negative-oct", "negative-oct = -0o755"),
        NamedInput("integer/positive-bin", "positive-bin = +0b11010110"),
        NamedInput("integer/positive-hex", "positive-hex = +0xff"),
        NamedInput("integer/positive-oct", "positive-oct = +0o755"),
        NamedInput("integer/text-after-integer", "answer = 42 the ultimate answer?"),
        NamedInput("integer/trailing-us-bin", "trailing-us-bin = 0b1_"),
        NamedInput("integer/trailing-us-hex", "trailing-us-hex = 0x1_"),
        NamedInput("integer/trailing-us-oct", "trailing-us-oct = 0o1_"),
        NamedInput("integer/trailing-us", "trailing-us = 123_"),
        NamedInput("integer/us-after-bin", "us-after-bin = 0b_1"),
        NamedInput("integer/us-after-hex", "us-after-hex = 0x_1"),
        NamedInput("integer/us-after-oct", "us-after-oct = 0o_1"),
        NamedInput("key/after-array", "[[agencies]] owner = \"S Cjelli\""),
        NamedInput("key/after-table", "[error] this = \"should not be here\""),
        NamedInput("key/after-value", "first = \"Tom\" last = \"Preston-Werner\" # INVALID"),
        NamedInput("key/bare-invalid-character-01", "! = 123"),
        NamedInput("key/bare-invalid-character-02", "bare!key = 123"),
        NamedInput("key/dot", ". = 1"),
        NamedInput("key/dotdot", ".. = 1"),
        NamedInput("key/dotted-redefine-table-01", "a = false\na.b = true\n"),
        NamedInput(
            "key/dotted-redefine-table-02",
            "# Defined a.b as int\na.b = 1\n# Tries to access it as table: error\na.b.c = 2\n"
        ),
        NamedInput("key/duplicate-keys-01", "name = \"Tom\"\nname = \"Pradyun\"\n"),
        NamedInput("key/duplicate-keys-02", "dupe = false\ndupe = true\n"),
        NamedInput(
            "key/duplicate-keys-03", "spelling   = \"favorite\"\n\"spelling\" = \"favourite\"\n"),
        NamedInput(
            "key/duplicate-keys-04", "spelling   = \"favorite\"\n'spelling' = \"favourite\"\n"),
        NamedInput("key/duplicate-keys-05", "a        = 1\n\"\\u0061\" = 1\n"),
        NamedInput("key/duplicate-keys-06", "\"a'b\"      = 1\n\"a\\u0027b\" = 2\n"),
        NamedInput("key/duplicate-keys-07", "\"\" = 1\n\"\" = 2\n"),
        NamedInput("key/duplicate-keys-08", "arr = [1]\narr = [2]\n"),
        NamedInput("key/duplicate-keys-09", "tbl = {k=1}\ntbl = {kk=2}\n"),
        NamedInput("key/empty", " = 1"),
        NamedInput("key/end-in-escape", "\"backslash is the last char\\"),
        NamedInput("key/escape", "\\u00c0 = \"latin capital letter A with grave\""),
        NamedInput("key/hash", "a# = 1"),
        NamedInput("key/multiline-key-01", "\"\"\"key\"\"\" = 1"),
        NamedInput("key/multiline-key-02", "'''key''' = 1"),
        NamedInput("key/multiline-key-03", "\"\"\"key\"\"\" = \"\"\"v\"\"\""),
        NamedInput("key/multiline-key-04", "'''key''' = '''v'''"),
        NamedInput("key/newline-01", "barekey\n   = 1\n"),
        NamedInput("key/newline-02", "\"quoted\nkey\" = 1\n"),
        NamedInput("key/newline-03", "'quoted\nkey' = 1\n"),
        NamedInput("key/newline-04", "\"\"\"long\nkey\"\"\" = 1\n"),
        NamedInput("key/newline-05", "'''long\nkey''' = 1\n"),
        NamedInput("key/newline-06", "key =\n1\n"),
        NamedInput("key/no-eol-01", "a = 1 b = 2"),
        NamedInput("key/no-eol-02", "0=0r=false"),
        NamedInput(
            "key/no-eol-03", "0=\"\"o=\"\"m=\"\"r=\"\"00=\"0\"q=\"\"\"0\"\"\"e=\"\"\"0\"\"\""),
        NamedInput(
            "key/no-eol-04", "[[0000l0]]\n0=\"0\"[[0000l0]]\n0=\"0\"[[0000l0]]\n0=\"0\"l=\"0\"\n"),
        NamedInput(
            "key/no-eol-05",
            "0=[0]00=[0,0,0]t=[\"0\",\"0\",\"0\"]s=[1000-00-00T00:00:00Z,2000-00-00T00:00:00Z]"
        ),
        NamedInput("key/no-eol-06", "0=0r0=0r=false"),
        NamedInput("key/no-eol-07", "0=0r0=0r=falsefal=false"),
        NamedInput("key/only-float", "1.1"),
        NamedInput("key/only-int", "1"),
        NamedInput("key/only-str", "\"\""),
        NamedInput("key/open-bracket", "[abc = 1"),
        NamedInput("key/partial-quoted", "partial\"quoted\" = 5"),
        NamedInput("key/quoted-unclosed-01", "\"key = x"),
        NamedInput("key/quoted-unclosed-02", "\"key"),
        NamedInput("key/single-open-bracket", "["),
        NamedInput("key/space-quoted", "# Tab literal between a and b below.\n\"a\" \"b\" = 1\n"),
        NamedInput("key/space", "a b = 1"),
        NamedInput("key/special-character", "\u{3BC} = \"greek small letter mu\""),
        NamedInput("key/start-bracket", "[a]\n[xyz = 5\n[b]\n"),
        NamedInput("key/start-dot", ".key = 1"),
        NamedInput("key/tab-quoted", "# Tab literal between a and b below.\n\"a\"\t\"b\" = 1\n"),
        NamedInput("key/tab", "# Tab literal between a and b below.\na\tb = 1\n"),
        NamedInput("key/two-equals-01", "key= = 1"),
        NamedInput("key/two-equals-02", "a==1"),
        NamedInput("key/two-equals-03", "a=b=1"),
        NamedInput("key/without-value-01", "key"),
        NamedInput("key/without-value-02", "key = "),
        NamedInput("key/without-value-03", "\"key\""),
        NamedInput("key/without-value-04", "\"key\" = "),
        NamedInput("key/without-value-05", "fs.fw"),
        NamedInput("key/without-value-06", "fs.fw ="),
        NamedInput("key/without-value-07", "fs."),
        NamedInput("local-date/day-1digit", "foo = 1997-09-9"),
        NamedInput("local-date/feb-29", "\"not a leap year\" = 2100-02-29"),
        NamedInput("local-date/feb-30", "\"only 28 or 29 days in february\" = 1988-02-30\n\n"),
        NamedInput(
            "local-date/month-over", "# date-month      = 2DIGIT  ; 01-12\nd = 2006-13-01\n"),
        NamedInput(
            "local-date/month-under", "# date-month      = 2DIGIT  ; 01-12\nd = 2007-00-01\n"),
        NamedInput(
            "local-date/no-leads-with-milli",
            "# Day \"5\" instead of \"05\"; the leading zero is required.\nwith-milli = 1987-07-5\n"
        ),
        NamedInput(
            "local-date/no-leads",
            "# Month \"7\" instead of \"07\"; the leading zero is required.\nno-leads = 1987-7-05\n"
        ),
        NamedInput("local-date/trailing-t", "# Date cannot end with trailing T\nd = 2006-01-30T\n"),
        NamedInput("local-date/y10k", "# Maximum RFC3399 year is 9999.\nd = 10000-01-01\n"),
        NamedInput("local-date/year-3digits", "foo = 199-09-09"),
        NamedInput("local-datetime/feb-29", "\"not a leap year\" = 2100-02-29T15:15:15"),
        NamedInput(
            "local-datetime/feb-30", "\"only 28 or 29 days in february\" = 1988-02-30T15:15:15\n\n"),
        NamedInput(
            "local-datetime/hour-over",
            "# time-hour       = 2DIGIT  ; 00-23\nd = 2006-01-01T24:00:00\n"
        ),
        NamedInput(
            "local-datetime/minute-over",
            "# time-minute     = 2DIGIT  ; 00-59\nd = 2006-01-01T00:60:00\n"
        ),
        NamedInput(
            "local-datetime/month-over",
            "# date-month      = 2DIGIT  ; 01-12\nd = 2006-13-01T00:00:00\n"
        ),
        NamedInput(
            "local-datetime/month-under",
            "# date-month      = 2DIGIT  ; 01-12\nd = 2007-00-01T00:00:00\n"
        ),
        NamedInput(
            "local-datetime/no-leads",
            "# Month \"7\" instead of \"07\"; the leading zero is required.\nno-leads = 1987-7-05T17:45:00\n"
        ),
        NamedInput("local-datetime/no-secs", "# No seconds in time.\nno-secs = 1987-07-05T17:45\n"),
        NamedInput(
            "local-datetime/no-t",
            "# No \"t\" or \"T\" between the date and time.\nno-t = 1987-07-0517:45:00\n"
        ),
        NamedInput(
            "local-datetime/time-no-leads",
            "# Leading 0 is always required.\nd = 2023-10-01T1:32:00Z\n"
        ),
        NamedInput(
            "local-datetime/y10k", "# Maximum RFC3399 year is 9999.\nd = 10000-01-01 00:00:00\n"),
        NamedInput("local-time/hour-over", "# time-hour       = 2DIGIT  ; 00-23\nd = 24:00:00\n"),
        NamedInput("local-time/minute-over", "# time-minute     = 2DIGIT  ; 00-59\nd = 00:60:00\n"),
        NamedInput("local-time/no-secs", "# No seconds in time.\nno-secs = 17:45\n"),
        NamedInput("local-time/time-no-leads-01", "# Leading 0 is always required.\nd = 1:32:00\n"),
        NamedInput("local-time/time-no-leads-02", "# Leading 0 is always required.\nd = 01:32:0\n"),
        NamedInput("local-time/trailing-dot", "t = 12:13:14."),
        NamedInput("local-time/trailing-dotdot", "t = 12:13:14.."),
        NamedInput("string/bad-byte-escape", "naughty = \"\\xAg\""),
        NamedInput("string/bad-concat", "no_concat = \"first\" \"second\""),
        NamedInput(
            "string/bad-escape-01",
            "invalid-escape = \"This string has a bad \\a escape character.\""
        ),
        NamedInput(
            "string/bad-escape-02",
            "invalid-escape = \"This string has a bad \\  escape character.\"\n\n"
        ),
        NamedInput("string/bad-escape-03", "backslash = \"\\\""),
        NamedInput("string/bad-escape-04", "a = \"a \\\\\\ b\""),
        NamedInput("string/bad-escape-05", "a = \"a \\\\\\\\\\ b\""),
        NamedInput("string/bad-hex-esc-01", "bad-hex-esc-01 = \"\\x0g\""),
        NamedInput("string/bad-hex-esc-02", "bad-hex-esc-02 = \"\\xG0\""),
        NamedInput("string/bad-hex-esc-03", "bad-hex-esc-03 = \"\\x\""),
        NamedInput("string/bad-hex-esc-04", "bad-hex-esc-04 = \"\\x 50\""),
        NamedInput("string/bad-hex-esc-05", "bad-hex-esc-5 = \"\\x 50\""),
        NamedInput("string/bad-multiline", "multi = \"first line\nsecond line\"\n"),
        NamedInput(
            "string/bad-slash-escape",
            "invalid-escape = \"This string has a bad \\/ escape character.\""
        ),
        NamedInput("string/bad-uni-esc-01", "bad-uni-esc-01 = \"val\\ue\""),
        NamedInput("string/bad-uni-esc-02", "bad-uni-esc-02 = \"val\\Ux\""),
        NamedInput("string/bad-uni-esc-03", "bad-uni-esc-03 = \"val\\U0000000\""),
        NamedInput("string/bad-uni-esc-04", "bad-uni-esc-04 = \"val\\U0000\""),
        NamedInput("string/bad-uni-esc-05", "bad-uni-esc-05 = \"val\\Ugggggggg\""),
        NamedInput(
            "string/bad-uni-esc-06",
            "bad-uni-esc-06 = \"This string contains a non scalar unicode codepoint \\uD801\""
        ),
        NamedInput("string/bad-uni-esc-07", "bad-uni-esc-07 = \"\\uabag\""),
        NamedInput("string/bad-uni-esc-ml-01", "bad-uni-esc-ml-01 = \"\"\"val\\ue\"\"\""),
        NamedInput("string/bad-uni-esc-ml-02", "bad-uni-esc-ml-02 = \"\"\"val\\Ux\"\"\""),
        NamedInput("string/bad-uni-esc-ml-03", "bad-uni-esc-ml-03 = \"\"\"val\\U0000000\"\"\""),
        NamedInput("string/bad-uni-esc-ml-04", "bad-uni-esc-ml-04 = \"\"\"val\\U0000\"\"\""),
        NamedInput("string/bad-uni-esc-ml-05", "bad-uni-esc-ml-05 = \"\"\"val\\Ugggggggg\"\"\""),
        NamedInput(
            "string/bad-uni-esc-ml-06",
            "bad-uni-esc-ml-06 = \"\"\"This string contains a non scalar unicode codepoint \\uD801\"\"\""
        ),
        NamedInput("string/bad-uni-esc-ml-07", "bad-uni-esc-ml-07 = \"\"\"\\uabag\"\"\""),
        NamedInput("string/basic-byte-escapes", "answer = \"\\x33\""),
        NamedInput(
            "string/basic-multiline-out-of-range-unicode-escape-01", "a = \"\"\"\\UFFFFFFFF\"\"\""),
        NamedInput(
            "string/basic-multiline-out-of-range-unicode-escape-02", "a = \"\"\"\\U00D80000\"\"\""),
        NamedInput(
            "string/basic-multiline-quotes",
            "str5 = \"\"\"Here are three quotation marks: \"\"\".\"\"\""
        ),
        NamedInput("string/basic-multiline-unknown-escape", "a = \"\"\"\\@\"\"\""),
        NamedInput("string/basic-out-of-range-unicode-escape-01", "a = \"\\UFFFFFFFF\""),
        NamedInput("string/basic-out-of-range-unicode-escape-02", "a = \"\\U00D80000\""),
        NamedInput("string/basic-unknown-escape", "a = \"\\@\""),
        NamedInput("string/literal-multiline-quotes-01", "a = '''6 apostrophes: ''''''\n\n"),
        NamedInput(
            "string/literal-multiline-quotes-02", "a = '''15 apostrophes: ''''''''''''''''''"),
        NamedInput("string/missing-quotes-array", "name = [value]"),
        NamedInput("string/missing-quotes-inline-table", "name = { key = value }"),
        NamedInput("string/missing-quotes", "name = value"),
        NamedInput("string/multiline-bad-escape-01", "k = \"\"\"t\\a\"\"\"\n\n"),
        NamedInput(
            "string/multiline-bad-escape-02",
            "# \\<Space> is not a valid escape.\nk = \"\"\"t\\ t\"\"\"\n"
        ),
        NamedInput(
            "string/multiline-bad-escape-03",
            "# \\<Space> is not a valid escape.\nk = \"\"\"t\\ \"\"\"\n\n"
        ),
        NamedInput("string/multiline-bad-escape-04", "backslash = \"\"\"\\\"\"\""),
        NamedInput("string/multiline-escape-space-01", "a = \"\"\"\n  foo \\ \\n\n  bar\"\"\"\n"),
        NamedInput("string/multiline-escape-space-02", "bee = \"\"\"\nhee \\\n\ngee \\   \"\"\"\n"),
        NamedInput("string/multiline-lit-no-close-01", "invalid = '''\n    this will fail\n"),
        NamedInput("string/multiline-lit-no-close-02", "x='''"),
        NamedInput(
            "string/multiline-lit-no-close-03", "not-closed= '''\ndiibaa\nblibae ete\neteta\n"),
        NamedInput("string/multiline-lit-no-close-04", "bee = '''\nhee\ngee ''\n"),
        NamedInput("string/multiline-no-close-01", "invalid = \"\"\"\n    this will fail\n"),
        NamedInput("string/multiline-no-close-02", "x=\"\"\""),
        NamedInput(
            "string/multiline-no-close-03", "not-closed= \"\"\"\ndiibaa\nblibae ete\neteta\n"),
        NamedInput("string/multiline-no-close-04", "bee = \"\"\"\nhee\ngee \"\"\n"),
        NamedInput("string/multiline-no-close-05", "bee = \"\"\"\nhee\ngee\\\t \n"),
        NamedInput("string/multiline-quotes-01", "a = \"\"\"6 quotes: \"\"\"\"\"\""),
        NamedInput("string/no-close-01", "no-ending-quote = \"One time, at band camp"),
        NamedInput("string/no-close-02", "\"a-string\".must-be = \"closed"),
        NamedInput("string/no-close-03", "no-ending-quote = 'One time, at band camp"),
        NamedInput("string/no-close-04", "'a-string'.must-be = 'closed"),
        NamedInput(
            "string/no-close-05", "# No newline at end\nno-ending-quote = \"One time, at band camp"),
        NamedInput("string/no-close-06", "# No newline at end\n\"a-string\".must-be = \"closed"),
        NamedInput(
            "string/no-close-07", "# No newline at end\nno-ending-quote = 'One time, at band camp"),
        NamedInput("string/no-close-08", "# No newline at end\n'a-string'.must-be = 'closed"),
        NamedInput("string/no-close-09", "# Newlines are not allowed in \"-strings.\na = \"\n\"\n"),
        NamedInput("string/no-close-10", "# Newlines are not allowed in '-strings.\na = '\n'\n"),
        NamedInput("string/no-open-01", "s = a\""),
        NamedInput("string/no-open-02", "a = [a\"]"),
        NamedInput("string/no-open-03", "s = a'"),
        NamedInput("string/no-open-04", "a = [a']"),
        NamedInput("string/no-open-05", "a = a\"\"\""),
        NamedInput("string/no-open-06", "a = [a\"\"\"]"),
        NamedInput("string/no-open-07", "a = a'''"),
        NamedInput("string/no-open-08", "a = [a''']"),
        NamedInput("string/text-after-string", "string = \"Is there life after strings?\" No."),
        NamedInput("string/wrong-close", "bad-ending-quote = \"double and single'"),
        NamedInput("table/append-with-dotted-keys-03", "[[a.b]]\n\n[a]\nb.y = 2\n"),
        NamedInput("table/append-with-dotted-keys-05", "a.b.c = 1\na.b = 2\n"),
        NamedInput("table/append-with-dotted-keys-06", "a = 1\na.b = 2\n"),
        NamedInput("table/append-with-dotted-keys-07", "a = {k1 = 1, k1.name = \"joe\"}"),
        NamedInput(
            "table/append-with-dotted-keys-08",
            "[a.b.c]\nz = 9\n\n[[totally_unrelated]]\nx = 123\n\n[a]\nb.c.t = \"this should NOT be allowed\"\n"
        ),
        NamedInput("table/array-empty", "[[]]\nname = \"Born to Run\"\n"),
        NamedInput("table/array-no-close-01", "[[albums]\nname = \"Born to Run\"\n"),
        NamedInput("table/array-no-close-02", "[[closing-bracket.missing]\nblaa=2\n"),
        NamedInput("table/array-no-close-03", "[[a\n[[b]]\n"),
        NamedInput("table/array-no-close-04", "[[a\nb = 2\n"),
        NamedInput("table/bare-invalid-character-01", "[!]\nk = 123\n"),
        NamedInput("table/bare-invalid-character-02", "[bare!key]\nk = 123\n"),
        NamedInput("table/dot", "[.]\nk = 1\n"),
        NamedInput("table/dotdot", "[..]\nk = 1\n"),
        NamedInput("table/duplicate-key-01", "[a]\nb = 1\n\n[a]\nc = 2\n"),
        NamedInput(
            "table/duplicate-key-02", "[fruit]\ntype = \"apple\"\n\n[fruit.type]\napple = \"yes\"\n"
        ),
        NamedInput("table/duplicate-key-03", "[fruit]\napple.color = \"red\"\n\n[[fruit.apple]]\n"),
        NamedInput(
            "table/duplicate-key-04", "[fruit]\napple.color = \"red\"\n\n[fruit.apple] # INVALID\n"),
        NamedInput(
            "table/duplicate-key-05",
            "[fruit]\napple.taste.sweet = true\n\n[fruit.apple.taste] # INVALID\n"
        ),
        NamedInput("table/duplicate-key-06", "[tbl]\n[[tbl]]\n"),
        NamedInput("table/duplicate-key-07", "[[tbl]]\n[tbl]\n"),
        NamedInput("table/duplicate-key-08", "[a]\nb = { c = 2, d = {} }\n[a.b]\nc = 2\n"),
        NamedInput("table/duplicate-key-09", "[a]\nfoo=\"bar\"\n[a.b]\nfoo=\"bar\"\n[a]\n"),
        NamedInput("table/duplicate-key-10", "a = []\n[[a.b]]\n"),
        NamedInput("table/duplicate-key-11", "[a]\n[a.b]\n[a.b]\n"),
        NamedInput("table/duplicate-key-12", "[a]\n[a.b]\nc = 1\n[a.b]\nc = 2\n"),
        NamedInput("table/duplicate-key-13", "[a.b]\n[a]\n[a.b]\n"),
        NamedInput("table/duplicate-key-14", "[a.b]\nc = 1\n[a]\n[a.b]\nc = 2\n"),
        NamedInput("table/empty-implicit-table", "[naughty..naughty]"),
        NamedInput("table/empty", "[]"),
        NamedInput("table/equals-sign", "[name=bad]"),
        NamedInput("table/llbrace", "[ [table]]"),
        NamedInput("table/multiline-key-01", "[\"\"\"tbl\"\"\"]\nk = 1\n"),
        NamedInput("table/multiline-key-02", "['''tbl''']\nk = 1\n"),
        NamedInput("table/nested-brackets-close", "[a]b]\nzyx = 42\n"),
        NamedInput("table/nested-brackets-open", "[a[b]\nzyx = 42\n"),
        NamedInput("table/newline-01", "[tbl\n]\nk = 1\n"),
        NamedInput("table/newline-02", "[\"tbl\n\"]\nk = 1\n"),
        NamedInput("table/newline-03", "[\"tbl\"\n]\nk = 1\n"),
        NamedInput("table/newline-04", "[tbl.\n]\nk = 1\n"),
        NamedInput("table/newline-05", "[tbl\n.sub]\nk = 1\n"),
        NamedInput("table/no-close-01", "[where will it end\nname = value\n\n"),
        NamedInput("table/no-close-02", "[closing-bracket.missing\u{F6}\nblaa=2\n"),
        NamedInput("table/no-close-03", "[\"where will it end]\nname = value\n\n"),
        NamedInput("table/no-close-04", "["),
        NamedInput("table/no-close-05", "[fwfw.wafw"),
        NamedInput("table/no-close-06", "[a\n[b]\n[c\n[d]\n"),
        NamedInput("table/no-close-07", "[']"),
        NamedInput("table/no-close-08", "[''']"),
        NamedInput("table/no-close-09", "[\"where will it end\"\"]\nname = value\n"),
        NamedInput(
            "table/overwrite-array-in-parent",
            "[[parent-table.arr]]\n[parent-table]\nnot-arr = 1\narr = 2\n"
        ),
        NamedInput("table/overwrite-bool-with-array", "a=true\n[[a]]\n"),
        NamedInput("table/overwrite-with-deep-table", "a=1\n[a.b.c.d]\n"),
        NamedInput(
            "table/redefine-01",
            "# Define b as int, and try to use it as a table: error\n[a]\nb = 1\n\n[a.b]\nc = 2\n"
        ),
        NamedInput("table/rrbrace", "[[table] ]"),
        NamedInput("table/super-twice", "[a.b]\n[a]\n[a]\n"),
        NamedInput("table/text-after-table", "[error] this shouldn't be here"),
        NamedInput("table/trailing-dot", "[a.]"),
        NamedInput("table/whitespace", "[invalid key]"),
        NamedInput("table/with-pound", "[key#group]\nanswer = 42\n"),
        NamedInput(
            "encoding/bad-codepoint",
            digits: "2320496e76616c696420636f6465706f696e7420552b44383030203a20eda0800a"),
        NamedInput(
            "encoding/bad-utf8-in-array",
            digits:
                "232068747470733a2f2f6769746875622e636f6d2f6d61727a65722f746f6d6c706c7573706c75732f6973737565732f3130300a666c203d5b205b5b5b5b5b5b5b5b5b5b5b5b5b5b5b3680860000002d36c29f2000"
        ),
        NamedInput("encoding/bad-utf8-in-comment", digits: "2320c30a"),
        NamedInput(
            "encoding/bad-utf8-in-multiline-literal",
            digits:
                "232054686520666f6c6c6f77696e67206c696e6520636f6e7461696e7320616e20696e76616c6964205554462d382073657175656e63652e0a626164203d20272727c32727270a"
        ),
        NamedInput(
            "encoding/bad-utf8-in-multiline",
            digits:
                "232054686520666f6c6c6f77696e67206c696e6520636f6e7461696e7320616e20696e76616c6964205554462d382073657175656e63652e0a626164203d20222222c32222220a"
        ),
        NamedInput(
            "encoding/bad-utf8-in-string-literal",
            digits:
                "232054686520666f6c6c6f77696e67206c696e6520636f6e7461696e7320616e20696e76616c6964205554462d382073657175656e63652e0a626164203d2027c3270a"
        ),
        NamedInput(
            "encoding/bad-utf8-in-string",
            digits:
                "232054686520666f6c6c6f77696e67206c696e6520636f6e7461696e7320616e20696e76616c6964205554462d382073657175656e63652e0a626164203d2022c3220a"
        ),
        NamedInput(
            "encoding/utf16-bom",
            digits: "feff00230020005500540046002d003100360020007700690074006800200042004f004d000a"),
    ]

    @Test("what is not TOML is refused", arguments: invalid)
    func isInvalid(input: NamedInput) throws {
        #expect(!Self.isRead(input.bytes))
    }

}
