import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

@Suite struct VisibleTextTests {
    /// What would clear a screen, ring, overwrite a line, and turn text around.
    private let evil = "a\u{1B}[2J\u{7}\r\u{9B}b\u{202E}c\u{7F}\n\t"

    @Test("nothing that a task wrote steers a terminal from one line")
    func oneLine() {
        #expect(
            VisibleText.oneLine(evil)
                == "a\\x1b[2J\\x07\\x0d\\x9bb\\u{202e}c\\x7f\\x0a\\x09")
    }

    @Test("output keeps its newlines and tabs and nothing else that controls")
    func lines() {
        #expect(
            VisibleText.lines(evil) == "a\\x1b[2J\\x07\\x0d\\x9bb\\u{202e}c\\x7f\n\t")
    }

    @Test("text of any language stays as it is")
    func harmless() {
        for text in ["plain", "Ünïcödé", "写真", "e\u{301}", "🎉", ""] {
            #expect(VisibleText.oneLine(text) == text)
        }
    }

    @Test("a forged name and reason stay within their cell, their line and their colour")
    func rows() {
        let task = Sample.task {
            $0.name = "x\n99\tforged"
            $0.command = ["\u{1B}]0;title\u{7}"]
            $0.reason = "\u{1B}[31m"
            $0.status = "ok\nstate\tended"
        }
        for style in [Style.plain, .terminal(width: 200, colour: false)] {
            let table = TaskTable.fields([task], owners: false).text(style)
            #expect(!table.contains("\u{1B}"))
            #expect(table.filter { $0 == "\n" }.count == (style.isTerminal ? 2 : 1))
            let fields = TaskText.fields(task).text(style)
            #expect(!fields.contains("\u{1B}"))
            #expect(fields.filter { $0 == "\n" }.count == (style.isTerminal ? 15 : 26))
        }
    }

    @Test("each line of an event's output has a row of its own, which nothing in it can leave")
    func events() {
        var event = Tasks.Event()
        event.kind = .output
        event.task = Sample.task { $0.name = "n\u{1B}c" }
        event.stream = "stdout"
        event.text = "one\ntwo\u{1B}[A"
        #expect(
            TaskText.line(event, .plain)
                == "7\toutput\tn\\x1bc\tstdout: one\n7\toutput\tn\\x1bc\tstdout: two\\x1b[A\n")
    }

    @Test("JSON has the wire's names, and escapes what JSON would let through")
    func json() throws {
        var piece = Tasks.Output.Output()
        piece.stream = "stdout"
        piece.text = evil + "\u{E0001}"
        let line = JSONLine.text(piece)
        #expect(
            line == #"{"stream":"stdout","text":"a\u001b[2J\u0007\r\u009bb\u202ec\u007f\n\t"#
                + #"\udb40\udc01"}"# + "\n")
        let value = try JSONDocument(parsing: line.utf8).value()
        #expect(value["text"] == .string(piece.text))
    }

    @Test("absent fields are left out of JSON, as on the wire")
    func absent() {
        #expect(JSONLine.text(Sample.remaining(ms: 1, hardMs: nil, nil)) == "{\"ms\":1}\n")
    }

    @Test("a line on standard error stays one line")
    func failures() {
        #expect(Failure("a\nb\u{1B}").line == "a\\x0ab\\x1b")
    }
}
