import BudgetCore

/// What happens to one application, as data: the rows of the tables.
enum Cue: Sendable {
    case register, launch, activate, resign, home, adopt, terminate, crash, exit, pressure
    /// Another application of the owner comes to the front.
    case other
    case push(MessageKind, UserAction)
    case delivered
    case begin(String)
    case end(String)
    case pass(Int)
    /// The machine is asleep for so many seconds.
    case away(Int)
    /// From here on the shell answers when it is told to.
    case hold(Stage.Held)
    case release
    case started, notStarted, frozen, notFrozen, thawed, notThawed, gone
    case drain, endGrace
    /// Nothing of what came before is looked at.
    case cut
}

extension Stage {
    mutating func play(_ cues: [Cue]) throws {
        for cue in cues { try play(cue) }
    }

    private mutating func play(_ cue: Cue) throws {
        switch cue {
        case .register: try register()
        case .launch: try launch()
        case .activate: try activate()
        case .resign: try resign()
        case .home: try home()
        case .adopt: try adopt()
        case .terminate: try terminate()
        case .other:
            if application(Stage.key("other")) == nil { try register(Stage.key("other")) }
            try activate(Stage.key("other"))
        case .push(let kind, let action): try push(PushMessage(kind: kind, action: action))
        case .delivered: try delivered()
        case .begin(let name): try begin(name)
        case .end(let name): try end(name)
        case .pass(let seconds): pass(.seconds(seconds))
        case .away(let seconds):
            clerk.registry.asleep += .seconds(seconds)
            pass(.zero)
        case .hold(let order): held.insert(order)
        case .release: held = []
        case .cut: _ = take()
        default: report(cue)
        }
    }

    /// What the shell says happened.
    private mutating func report(_ cue: Cue) {
        let key = Stage.maps
        let (freeze, thaw) = (freezes[key] ?? 0, thaws[key] ?? 0)
        call { registry, now, actions in
            switch cue {
            case .crash:
                let exit = ProcessExit.signal(SignalNumber(rawValue: 11))
                registry.applicationExited(key, exit, at: now, &actions)
            case .exit: registry.applicationExited(key, .status(0), at: now, &actions)
            case .pressure:
                _ = registry.memoryPressure(on: nil, count: 1, at: now, &actions)
            case .started: registry.applicationStarted(key, at: now, &actions)
            case .notStarted:
                registry.applicationNotStarted(key, "no such file", at: now, &actions)
            case .frozen: registry.applicationFrozen(key, freeze, at: now, &actions)
            case .notFrozen:
                registry.applicationNotFrozen(key, freeze, "busy", at: now, &actions)
            case .thawed: registry.applicationThawed(key, thaw, at: now, &actions)
            case .notThawed:
                registry.applicationNotThawed(key, thaw, "gone wrong", at: now, &actions)
            case .gone: registry.applicationGone(key, at: now, &actions)
            case .drain: registry.drain(keepsQueue: true, at: now, &actions)
            case .endGrace: registry.endGrace(at: now, &actions)
            default: break
            }
        }
    }
}
