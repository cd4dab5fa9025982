import JSON
import TaskAPI
import Testing
import Varlink
import TaskControl

/// What `report` asks, and how progress is shown.
@Suite struct ReportTests {
    @Test(
        "a bar is full only where all is done, and of no known number there is none",
        arguments: [
            (0, 50, "[..........] 0%"), (21, 50, "[####......] 42%"), (49, 50, "[#########.] 98%"),
            (50, 50, "[##########] 100%"), (70, 50, "[##########] 100%"),
            (0, 0, "[##########] 100%"), (7, nil, "7"),
            (1 << 53, (1 << 53) + 0, "[##########] 100%"),
        ] as [(Int, Int?, String)])
    func bars(completed: Int, total: Int?, text: String) {
        let task = Sample.task {
            var progress = Tasks.Progress()
            (progress.completed, progress.total) = (completed, total)
            $0.progress = progress
            $0.status = "packing"
        }
        #expect(ProgressText.line(task) == text + " packing")
        #expect(ProgressText.line(Sample.task()) == nil)
    }

    @Test("the task is the one that is named, or the command's own")
    func task() throws {
        for (arguments, environment, expected) in [
            (["--id", "9", "text"], [], #"{"id":9,"text":"text"}"#),
            (
                ["--completed", "3", "--total", "4"], ["BGTASK_ID=5"],
                #"{"id":5,"completed":3,"total":4}"#
            ),
            ([""], ["BGTASK_ID=5"], #"{"id":5,"text":""}"#),
        ] {
            let daemon = try FakeDaemon { $0.expect(Tasks.Report.self, reply: Empty()) }
            let run = try CommandRun(
                [CommandRun.program, "report"] + arguments,
                ["BGTASK_SOCKET=\(daemon.path)"] + environment)
            #expect(run.finish() == 0)
            #expect(run.output == "")
            #expect(daemon.parameters(of: Tasks.Report.self).map(\.text) == [expected])
        }
    }

    @Test(
        "nothing to say, a total alone and no task are refused",
        arguments: [
            [], ["--total", "4"], ["text", "--total", "4"], ["text"],
        ])
    func refused(arguments: [String]) throws {
        let run = try CommandRun(
            [CommandRun.program, "report"] + arguments, ["BGTASK_SOCKET=/nowhere"])
        #expect(run.finish() == 64)
        #expect(run.errors.split(separator: "\n").count == 1)
    }
}
