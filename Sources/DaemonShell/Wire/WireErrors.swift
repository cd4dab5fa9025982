internal import TaskAPI

extension Tasks.NoSuchTask {
    init(id: Int) {
        self.init()
        self.id = id
    }
}

extension Tasks.NoSuchProfile {
    init(profile: String) {
        self.init()
        self.profile = profile
    }
}

extension Tasks.NoSuchGroup {
    init(group: String) {
        self.init()
        self.group = group
    }
}

extension Tasks.LimitReached {
    init(limit: String, value: Int) {
        self.init()
        self.limit = limit
        self.value = value
    }
}

extension Tasks.TooLittleTime {
    init(remainingMs: Int, neededMs: Int) {
        self.init()
        self.remainingMs = remainingMs
        self.neededMs = neededMs
    }
}

extension Tasks.AlreadyEnded {
    init(id: Int, outcome: Tasks.Outcome) {
        self.init()
        self.id = id
        self.outcome = outcome
    }
}

extension Tasks.NotAccepting {
    init(reason: String) {
        self.init()
        self.reason = reason
    }
}

extension Tasks.Confined {
    init(reason: String) {
        self.init()
        self.reason = reason
    }
}

extension Tasks.OutputGone {
    init(id: Int, lostWithDaemon: Bool) {
        self.init()
        self.id = id
        self.lostWithDaemon = lostWithDaemon
    }
}

extension Applications.NoSuchApplication {
    init(id: String) {
        self.init()
        self.id = id
    }
}

extension Applications.NotRegistered {
    init(id: String) {
        self.init()
        self.id = id
    }
}

extension Applications.WrongState {
    init(id: String, state: Applications.State) {
        self.init()
        self.id = id
        self.state = state
    }
}

extension Applications.CannotStart {
    init(id: String, reason: String) {
        self.init()
        self.id = id
        self.reason = reason
    }
}

extension Applications.CannotContain {
    init(pid: Int, reason: String) {
        self.init()
        self.pid = pid
        self.reason = reason
    }
}
