import TaskAPI
package import Varlink

/// The methods in code, each of which a description has.
package enum ServedMethods {
    package static var all: [any Method.Type] {
        [
            Tasks.Begin.self, Tasks.End.self, Tasks.Extend.self, Tasks.Submit.self,
            Tasks.Cancel.self,
            Tasks.RemainingTime.self, Tasks.Show.self, Tasks.List.self, Tasks.History.self,
            Tasks.Watch.self, Tasks.Output.self, Tasks.Wait.self, Tasks.Explain.self,
            Tasks.SimulateExpiration.self, Tasks.SimulateLaunch.self, Tasks.Groups.self,
            Tasks.PauseGroup.self,
            Tasks.ResumeGroup.self, Tasks.Change.self, Tasks.PauseOwner.self,
            Tasks.ResumeOwner.self, Tasks.SetSlots.self, Tasks.Restart.self,
            Tasks.ShowSubmission.self, Tasks.Clean.self, Tasks.Report.self,
            Tasks.Complete.self,
            Applications.Register.self, Applications.Launch.self, Applications.Adopt.self,
            Applications.Activate.self, Applications.Resign.self, Applications.EnterBackground.self,
            Applications.Terminate.self, Applications.Unregister.self, Applications.Show.self,
            Applications.List.self, Applications.History.self, Applications.Watch.self,
            Applications.Delivered.self,
            Applications.Push.self, Applications.SetBadge.self,
            Applications.SetHandles.self,
            Applications.SimulateMemoryPressure.self,
            Applications.Explain.self,
            Manager.Describe.self, Manager.Statistics.self, Manager.Reload.self,
            SystemdService.Ping.self, SystemdService.Reload.self, SystemdService.SetLogLevel.self,
            SystemdService.GetEnvironment.self,
            ServiceInterface.GetInfo.self, ServiceInterface.GetInterfaceDescription.self,
        ]
    }
}

/// A field of a method's parameters whose numbers, or whose number of elements, are bounded or should be.
package struct BoundedField: Sendable {
    package let method: String
    /// As `InputField` has it.
    package let path: [String]
    package let field: VarlinkType.Field

    /// Every field of every method that has numbers in it.
    package static let numbers = all { type in
        switch type {
        case .int, .float: true
        default: false
        }
    }

    /// Every field of every method that is an array or a map.
    package static let collections = all { type in
        switch type {
        case .array, .map: true
        default: false
        }
    }

    /// The path as an answer names it, where arrays have one element.
    package var name: String {
        path.joined(separator: ".").replacing(".[]", with: "[0]").replacing("{}", with: "key")
    }

    private static func all(_ isMeant: (VarlinkType) -> Bool) -> [BoundedField] {
        ServedMethods.all.flatMap { method in
            fields(of: method, at: [], isMeant).map {
                BoundedField(method: method.name, path: $0.path, field: $0.field)
            }
        }
    }

    private static func fields<M: Method>(
        of method: M.Type, at path: [String], _ isMeant: (VarlinkType) -> Bool
    ) -> [(path: [String], field: VarlinkType.Field)] {
        fields(of: M.Input.varlinkType, nil, at: path, isMeant)
    }

    private static func fields(
        of type: VarlinkType, _ field: VarlinkType.Field?, at path: [String],
        _ isMeant: (VarlinkType) -> Bool
    ) -> [(path: [String], field: VarlinkType.Field)] {
        var found: [(path: [String], field: VarlinkType.Field)] = []
        if isMeant(type), let field { found.append((path, field)) }
        switch type {
        case .optional(let inner):
            found += fields(of: inner, field, at: path, isMeant)
        case .array(let element):
            found += fields(of: element, field, at: path + ["[]"], isMeant)
        case .map(let element):
            found += fields(of: element, field, at: path + ["{}"], isMeant)
        case .structure(let members):
            for member in members {
                found += fields(of: member.type, member, at: path + [member.name], isMeant)
            }
        default: break
        }
        return found
    }
}
