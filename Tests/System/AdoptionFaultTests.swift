import Testing

extension SystemTests {
    /// Nothing stays frozen that nobody would thaw.
    @Suite("Adopted units and the end of their daemon")
    final class AdoptionFaultTests {
        private var stage = AdoptionStage.systemService

        deinit {
            try? stage.end()
        }

        private func begin(_ stage: AdoptionStage) throws {
            self.stage = stage
            try stage.begin()
        }

        @Test(
            "a daemon that was killed is followed by one that thaws the unit before it serves",
            arguments: [AdoptionStage.systemService, .userScope, .ownDaemon])
        func killed(_ stage: AdoptionStage) throws {
            try begin(stage)
            try stage.adopt()
            try stage.suspend()
            let events = try stage.group() + "/cgroup.events"
            // The first look is after READY, and there is no second.
            let script =
                "systemctl \(stage.daemonScope) kill --kill-who=main -s KILL bgtaskd.service;"
                + " until [ \"$(systemctl \(stage.daemonScope) show -P NRestarts bgtaskd.service)\" = 1 ] &&"
                + " [ \"$(systemctl \(stage.daemonScope) is-active bgtaskd.service)\" = active ];"
                + " do sleep 0.05; done; cat \(events)"
            let looked =
                stage == .ownDaemon ? try BoxUser.shell(script) : try Installation.shell(script)
            #expect(looked.output.contains("frozen 0"), "\(looked)")
            try stage.expectCounting()
            let shown = try stage.show()
            #expect(shown.contains(#""state":"notRunning""#), "\(shown)")
            #expect(shown.contains(#""lastTermination":{"reason":"interrupted""#), "\(shown)")

            try stage.adopt()
            try stage.suspend()
            try stage.expectFrozen()
        }

        @Test(
            "a daemon that is stopped thaws the unit, and its processes live on",
            arguments: [AdoptionStage.systemService, .userScope, .ownDaemon])
        func stopped(_ stage: AdoptionStage) throws {
            try begin(stage)
            try stage.adopt()
            let processID = try stage.processID()
            try stage.suspend()
            let stop = "systemctl \(stage.daemonScope) stop bgtaskd.service"
            let stopped =
                stage == .ownDaemon ? try BoxUser.shell(stop) : try Installation.shell(stop)
            try Installation.succeed(stopped)
            try stage.expectCounting()
            #expect(try stage.processID() == processID)

            let shown = try stage.show()
            #expect(shown.contains(#""state":"notRunning""#), "\(shown)")
            #expect(shown.contains(#""lastTermination":{"reason":"interrupted""#), "\(shown)")
            try stage.adopt()
        }
    }
}

extension AdoptionStage {
    /// How systemctl finds the daemon's manager.
    var daemonScope: String { self == .ownDaemon ? "--user" : "--system" }
}
