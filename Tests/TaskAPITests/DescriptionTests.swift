import TaskAPI
import Testing
import Varlink

@Suite("The messages in code are those of the interface descriptions")
struct DescriptionTests {
    static func description(_ name: String) throws -> InterfaceDescription {
        try InterfaceDescription(parsing: try #require(Interfaces.texts[name]))
    }

    @Test("every method of org.bgtaskd.Tasks has the fields of its description")
    func tasksMethods() throws {
        let text = try Self.description(Tasks.name)
        let differences = [
            text.differences(of: Tasks.Begin.self), text.differences(of: Tasks.End.self),
            text.differences(of: Tasks.Extend.self), text.differences(of: Tasks.Submit.self),
            text.differences(of: Tasks.Cancel.self), text.differences(of: Tasks.RemainingTime.self),
            text.differences(of: Tasks.Show.self), text.differences(of: Tasks.List.self),
            text.differences(of: Tasks.History.self), text.differences(of: Tasks.Watch.self),
            text.differences(of: Tasks.Output.self),
            text.differences(of: Tasks.Wait.self), text.differences(of: Tasks.Explain.self),
            text.differences(of: Tasks.SimulateExpiration.self),
            text.differences(of: Tasks.SimulateLaunch.self),
            text.differences(of: Tasks.Change.self),
            text.differences(of: Tasks.PauseOwner.self),
            text.differences(of: Tasks.Restart.self),
            text.differences(of: Tasks.Clean.self),
            text.differences(of: Tasks.Report.self),
            text.differences(of: Tasks.Complete.self),
            text.differences(of: Tasks.ShowSubmission.self),
            text.differences(of: Tasks.ResumeOwner.self),
            text.differences(of: Tasks.SetSlots.self),
            text.differences(of: Tasks.Groups.self),
            text.differences(of: Tasks.PauseGroup.self),
            text.differences(of: Tasks.ResumeGroup.self),
        ]
        #expect(differences.count == text.methods.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("every type of org.bgtaskd.Tasks has the fields of its description")
    func tasksTypes() throws {
        let text = try Self.description(Tasks.name)
        let differences = [
            text.differences(ofType: "Budget", Tasks.Budget.self),
            text.differences(ofType: "Kind", Tasks.Kind.self),
            text.differences(ofType: "State", Tasks.State.self),
            text.differences(ofType: "Outcome", Tasks.Outcome.self),
            text.differences(ofType: "Bound", Tasks.Bound.self),
            text.differences(ofType: "Remaining", Tasks.Remaining.self),
            text.differences(ofType: "Exit", Tasks.Exit.self),
            text.differences(ofType: "ExpirationHandler", Tasks.ExpirationHandler.self),
            text.differences(ofType: "Limits", Tasks.Limits.self),
            text.differences(ofType: "Condition", Tasks.Condition.self),
            text.differences(ofType: "Unique", Tasks.Unique.self),
            text.differences(ofType: "Retry", Tasks.Retry.self),
            text.differences(ofType: "Work", Tasks.Work.self),
            text.differences(ofType: "Receipt", Tasks.Receipt.self),
            text.differences(ofType: "Attempt", Tasks.Attempt.self),
            text.differences(ofType: "Progress", Tasks.Progress.self),
            text.differences(ofType: "Task", Tasks.Task.self),
            text.differences(ofType: "Group", Tasks.Group.self),
            text.differences(ofType: "EventKind", Tasks.EventKind.self),
            text.differences(ofType: "Event", Tasks.Event.self),
            text.differences(ofType: "Explanation", Tasks.Explanation.self),
        ]
        #expect(differences.count == text.types.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("every error of org.bgtaskd.Tasks has the parameters of its description")
    func tasksErrors() throws {
        let text = try Self.description(Tasks.name)
        let differences = [
            Self.differences(text, Tasks.NoSuchTask.self),
            Self.differences(text, Tasks.NoSuchGroup.self),
            Self.differences(text, Tasks.NoSuchProfile.self),
            Self.differences(text, Tasks.LimitReached.self),
            Self.differences(text, Tasks.TooLittleTime.self),
            Self.differences(text, Tasks.AlreadyEnded.self),
            Self.differences(text, Tasks.NotAccepting.self),
            Self.differences(text, Tasks.Confined.self),
            Self.differences(text, Tasks.OutputGone.self),
        ]
        #expect(differences.count == text.errors.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("org.bgtaskd.Manager has the methods, types and errors of its description")
    func manager() throws {
        let text = try Self.description(Manager.name)
        let differences = [
            text.differences(of: Manager.Describe.self),
            text.differences(of: Manager.Statistics.self),
            text.differences(of: Manager.Reload.self),
            text.differences(ofType: "Profile", Manager.Profile.self),
            text.differences(ofType: "Limit", Manager.Limit.self),
            text.differences(ofType: "Setting", Manager.Setting.self),
            text.differences(ofType: "Counter", Manager.Counter.self),
            text.differences(ofType: "Gauge", Manager.Gauge.self),
            text.differences(ofType: "Histogram", Manager.Histogram.self),
            Self.differences(text, Manager.BadSettings.self),
        ]
        #expect(differences.count == text.methods.count + text.types.count + text.errors.count)
        #expect(differences.flatMap(\.self) == [])
    }

    @Test("io.systemd.service has the methods and errors of its description")
    func systemdService() throws {
        let text = try Self.description(SystemdService.name)
        let differences = [
            text.differences(of: SystemdService.Ping.self),
            text.differences(of: SystemdService.Reload.self),
            text.differences(of: SystemdService.SetLogLevel.self),
            text.differences(of: SystemdService.GetEnvironment.self),
            Self.differences(text, SystemdService.InconsistentEnvironment.self),
        ]
        #expect(differences.count == text.methods.count + text.types.count + text.errors.count)
        #expect(differences.flatMap(\.self) == [])
    }

    static func differences<E: WireError>(
        _ text: InterfaceDescription, _ error: E.Type
    ) -> [String] {
        text.differences(ofError: E.name, error)
    }
}
