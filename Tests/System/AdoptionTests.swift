import Foundation
import Testing

extension SystemTests {
    /// Processes that run already, in units of systemd, become applications of an installed daemon.
    @Suite("Adopting units")
    final class AdoptionTests {
        private var stage = AdoptionStage.systemService

        deinit {
            try? stage.end()
        }

        private func begin(_ stage: AdoptionStage) throws {
            self.stage = stage
            try stage.begin()
        }

        @Test(
            "an adopted unit stands still while it is suspended, goes on in front, and ends",
            arguments: AdoptionStage.allCases)
        func life(_ stage: AdoptionStage) throws {
            try begin(stage)
            try stage.adopt()
            try stage.expectCounting()
            #expect(!(try stage.show().contains(#""frozen":true"#)))
            try stage.watch()

            try stage.suspend()
            try stage.expectFrozen()

            let activated = try stage.call("app activate \(AdoptionStage.application)")
            #expect(activated.line == "\(AdoptionStage.application) is active", "\(activated)")
            try stage.expectCounting()
            let event = try JSONDecoder().decode(
                Event.self, from: Data(stage.event("willEnterForeground").utf8))
            // It is suspended 100 ms after it has left the front.
            #expect(event.backgroundMs >= 100)

            let group = try stage.group()
            let ended = try stage.call("app terminate --json \(AdoptionStage.application)").line
            #expect(ended.contains(#""state":"notRunning","pids":[]"#), "\(ended)")
            #expect(
                ended.contains(#""lastTermination":{"reason":"terminated","held":[]"#), "\(ended)")
            try Box.wait(
                for: "populated 0", from: "sh", "-c",
                "grep populated \(group)/cgroup.events 2>/dev/null || echo populated 0")
        }

        private struct Event: Decodable {
            var backgroundMs: Int
        }

        /// systemd 252 takes a unit that was killed while it was frozen for frozen, also when it runs again.
        @Test(
            "a unit that is ended while it is suspended can be started and adopted again",
            arguments: [AdoptionStage.systemService, .userScope])
        func endedWhileSuspended(_ stage: AdoptionStage) throws {
            try begin(stage)
            try stage.adopt()
            try stage.suspend()
            try Installation.succeed(stage.call("app terminate \(AdoptionStage.application)"))

            try stage.startCounter()
            try stage.adopt()
            try stage.expectCounting()
            try stage.suspend()
            try stage.expectFrozen()
            try Installation.succeed(stage.call("app activate \(AdoptionStage.application)"))
            try stage.expectCounting()
        }

        @Test("what a suspended unit has started is frozen with it")
        func family() throws {
            try begin(stage)
            try Installation.succeed(
                Installation.shell(
                    "systemctl stop counter.service; systemd-run --quiet --collect --unit=counter.service"
                        + " sh -c 'sh -c \"while :; do printf . >>/run/count/counter.service; done\" & wait'"
                ))
            try stage.adopt()
            try stage.expectCounting()
            try stage.suspend()
            try stage.expectFrozen()
        }

        @Test("an adopted process that ends by itself leaves a record, and its unit is left alone")
        func endsByItself() throws {
            try begin(stage)
            try stage.adopt()
            try Installation.succeed(Installation.shell("systemctl stop counter.service"))
            try stage.wait(for: #""lastTermination":{"reason":"exited""#)
            try stage.startCounter()
            #expect(try stage.show().contains(#""state":"notRunning""#))
        }

        @Test(
            "a unit that its operator thaws is in the background again, and suspended after the buffer"
        )
        func thawedByOthers() throws {
            try begin(stage)
            try stage.adopt()
            try stage.watch()
            try stage.suspend()
            try Installation.succeed(Installation.shell("systemctl thaw counter.service"))
            try stage.waitForEvents(2, #""state":"suspended""#)
            try stage.expectFrozen()
            try Installation.succeed(stage.call("app activate \(AdoptionStage.application)"))
            try stage.expectCounting()
        }
    }
}
