package import Logging
package import Systemd

/// The id, the level and the words of what the daemon says about itself.
///
/// As in ``JournalMessage``, the ids are what the message catalog knows them by, and never change. Each
/// has an entry in systemd/bgtaskd.catalog.
package struct DaemonMessage {
    let id: JournalMessageID
    let level: Logger.Level
    /// Constant: what varies is in the fields.
    package let sentence: String

    private init(_ id: JournalMessageID, _ level: Logger.Level, _ sentence: String) {
        self.id = id
        self.level = level
        self.sentence = sentence
    }
}

extension DaemonMessage {
    /// The daemon has started and serves its socket.
    static let serving = DaemonMessage(
        "34ba8f88f592931ababd2050b9b8ec9f", .notice, "serving")
    /// It takes no more work, and ends what runs.
    static let stopping = DaemonMessage(
        "7e32f8ed3e4784e7a79e68edaa41971b", .notice, "stopping")
    /// The service manager restarts the daemon, or has not said what it wants: commands go on.
    static let handingOver = DaemonMessage(
        "4b1f0a6c2de948d3a7c95e10f8b3627d", .notice, "stopping; commands go on")
    /// Nothing is ordered any more; the next daemon goes on with what runs.
    static let handedOver = DaemonMessage(
        "c07a95d3e1b84f62905be8d4713fa62c", .notice, "commands were left to the next daemon")
    /// An earlier daemon had started them.
    static let takenOver = DaemonMessage(
        "9e5d72b1c4f04a38b6e1d0835c7af941", .notice, "commands of an earlier daemon go on")
    /// What it ran is lost, unless the next one knows better.
    static let executorLost = DaemonMessage(
        "17c3e8f95ab24d60be7d41f2906c8a53", .warning, "the connection to bgtask-executor is lost")
    /// There is one again.
    static let executorFound = DaemonMessage(
        "d84b26e07f1c4935a02e9bc65d13f78a", .notice, "bgtask-executor is there")
    /// It is there; nothing is started, and who waits for it is refused.
    static let executorSilent = DaemonMessage(
        "a94e60b7c8d14f3e95027bc1d6f83e4a", .warning, "bgtask-executor does not answer")
    /// What was ordered meanwhile is done.
    static let executorAnswers = DaemonMessage(
        "3fd07c92b5e84a16a8c1e9407d2b65f8", .notice, "bgtask-executor answers again")
    /// It stands still; the daemon has killed what was past its limit.
    static let executorLetLimitPass = DaemonMessage(
        "99a1f016bf194fe78cc6372bd8c2d540", .warning,
        "a command was killed at its limit without bgtask-executor, which stands still")
    /// It was silent for half a minute and had nothing to run.
    static let executorKilled = DaemonMessage(
        "7335e420764e4659bca60b1b2d71eae1", .error, "bgtask-executor stands still, and was killed")
    /// It counts as a restart.
    static let stopKindNotTold = DaemonMessage(
        "6ac019d7f3e54b82917d05be8c42f36b", .info,
        "the service manager has not said what this stop is")
    /// A second order to stop came before the first was done.
    static let stoppingNow = DaemonMessage(
        "112c3c3911730a973be1ff4113f89c0f", .warning, "stopping without a grace period")
    /// Nothing of it runs any more.
    static let stopped = DaemonMessage(
        "37f2298bcc1ea71757cb409266046ea9", .notice, "stopped")
    /// A reload took the new settings.
    static let settingsRead = DaemonMessage(
        "2024117f0165f46c5cf32f561ee231ec", .notice, "settings read again")
    /// A reload found a fault in the settings; one entry for each.
    static let settingsRefused = DaemonMessage(
        "f0bf7059c11317cd559d1b41764a1c25", .error, "settings refused")
    /// After a reload by signal whose settings were refused.
    static let settingsKept = DaemonMessage(
        "1bedc47c9abaea190a7843b95bbac2de", .error, "the settings stay as they were")
    /// An operator chose another level, until the next reload or start.
    static let logLevelSet = DaemonMessage(
        "be6517d9bb0733b882d2c8679488a6e4", .notice, "log level set")
    /// They were found at the start.
    package static let leftoversKilled = DaemonMessage(
        "fd3392fd36664e24228af22c6c1aa5ba", .warning, "processes of an earlier daemon were killed")
    /// They were killed at the start and are there still, in a wait that no signal ends.
    package static let leftoversUnkillable = DaemonMessage(
        "9d2c47b05e8a4f36b1f07a6c83e5d914", .error, "processes of an earlier daemon cannot be ended"
    )
    /// A daemon that a shell started has a control group of its own.
    package static let scopeMade = DaemonMessage(
        "3c9e61d5b1f8427a9d40c57f2e8ab613", .notice, "the service manager made a scope")
    /// The control group that a shell started the daemon in has to do, or none.
    package static let noScope = DaemonMessage(
        "b70d28f4e6934c15a8f3d91c604be275", .notice, "the service manager made no scope")
    /// Control groups cannot be used.
    package static let supervisorEach = DaemonMessage(
        "a5163eb3734cc82066c920975bb1e2f6", .notice, "each task gets a supervisor process")
    /// At the end, where something is left in it.
    package static let groupNotRemoved = DaemonMessage(
        "6f6757556c1938a033f4b927c6c89877", .error, "the control group cannot be removed")
    /// Its connection was closed.
    static let clientBrokeProtocol = DaemonMessage(
        "16927224cc856b2034bea92c3a77fac2", .notice, "a client broke the protocol")
    /// No process can be had that closes them, and they stay open until one can.
    static let descriptorsNotClosed = DaemonMessage(
        "96c930e3fb02e5894af0dadf07d2fbb2", .error,
        "descriptors that a user has sent wait to be closed")
    /// Its events found no more room.
    static let slowReaderCutOff = DaemonMessage(
        "41d24d0363a281ed35f3ba6c73374b28", .notice, "a client that did not read was disconnected")
    /// Its owner's buffers are full.
    static let noRoomForConnection = DaemonMessage(
        "8a9bcf0f39cbd86a8fab7517f747ef5c", .notice, "a connection was closed for want of room")
    /// A limit keeps it out.
    static let connectionRefused = DaemonMessage(
        "06887df56d586bb31d91875195e05feb", .notice, "a connection was refused")
    /// Their calls are answered with PermissionDenied.
    static let userNotServed = DaemonMessage(
        "c1d7f0b25a6e4e0f9b3a8d4476e0529b", .notice,
        "a call of a user who may not use bgtaskd was refused")
    /// Those of one user came faster than the log takes them.
    static let connectionsNotNamed = DaemonMessage(
        "16235fb975c145b782b76ce5b122714f", .notice,
        "closed connections of a user were not logged one by one")
    /// Descriptors are used up.
    static let connectionsNotAccepted = DaemonMessage(
        "f3373cf136aac5f284b46f8f9104e71f", .notice, "connections are not accepted for now")
    /// accept4(2) failed.
    static let acceptFailed = DaemonMessage(
        "ece12d1a77acd3ca93f50460b59d7658", .error, "a connection cannot be accepted")
    /// Its peer or its watch is refused by the kernel.
    static let connectionNotServed = DaemonMessage(
        "1b0d33b98b55731df7e139132db40451", .error, "a connection cannot be served")
    /// epoll_ctl(2) failed for a listening socket.
    static let socketNotWatched = DaemonMessage(
        "32bfafb1e1af343d81089cbe7b972373", .error, "a socket cannot be watched")
    /// epoll_ctl(2) failed; the connection is closed.
    static let clientNotWatched = DaemonMessage(
        "e4e27813bf925687f76737a751ab2db9", .error, "a client cannot be watched")
    /// epoll_ctl(2) failed for a task's pipe.
    static let outputNotRead = DaemonMessage(
        "f28517fbcfb1fdbedd7fccb6b031a8ce", .error, "output cannot be read")
    /// There is no place for their sockets.
    static let noticesNotTaken = DaemonMessage(
        "bf10d20bcead5c0bbf914f1ca74fca04", .warning, "tasks cannot speak to the daemon")
    /// A task runs without one.
    static let noticeSocketNotMade = DaemonMessage(
        "b084c159caac4300be8dbca8b9b0a24d", .error, "a task's notification socket cannot be made")
    /// Another user sent it, it is too long, it is one of too many that a task left at its end, or the kernel
    /// did not hand it over.
    static let noticeDropped = DaemonMessage(
        "13846260abb09f502f446a7af23b437f", .notice, "a message to a task's socket was dropped")
    /// Those of one user came faster than the log takes them.
    static let noticesNotNamed = DaemonMessage(
        "8c966a62444fade1cc28aa65aa76c5e7", .notice,
        "dropped messages of a user were not logged one by one")
    /// Nobody can be had that does it, or somebody has mounted something there and holds that up.
    static let nameNotRemoved = DaemonMessage(
        "2d810c24a99ba98fe1f0f7e357bb6b83", .error, "a socket cannot be removed")
    /// It is found and ended with its task all the same.
    static let processLeft = DaemonMessage(
        "c8b15e7a3f604d2c9ae60d71f4258b3e", .warning, "a process has left the group of its task")
    /// Nobody knows whose it is, and it was killed.
    static let strangerKilled = DaemonMessage(
        "58e0f9a6b7d14c83a2457d1ec09f36bb", .warning,
        "a process that had left the group of its task was killed")
    /// The signal was refused; the hard limit still holds.
    static let taskNotSignalled = DaemonMessage(
        "b5c6f72611b2f9dc4ee36012794d1075", .error, "a task cannot be signalled")
    /// Nothing is started for a while; whoever waits keeps their turn.
    static let noRoom = DaemonMessage(
        "c4e1a90b7d264f58a3f60d92be71c845", .warning, "no command can be started now")
    /// What is short is short for this one, as its user's processes are; it goes back to the queue.
    static let noRoomForTask = DaemonMessage(
        "2f7d58c1e09b4a63b5d84c7fa1369e02", .notice, "there is no room to start a command")
    /// By what a shortage of memory is seen; once there is somebody to be ended for it.
    static let pressureSource = DaemonMessage(
        "5e0b7c94d2a84f1683c6f1a97d4e20b8", .info, "memory pressure is watched")
    /// A source of it is lost; nobody is ended for what is not seen.
    static let pressureNotWatched = DaemonMessage(
        "98c41ad3e67b4f50a2d9e0b5f71c3864", .warning, "memory pressure cannot be watched")
    /// The signal was refused; the kill after the grace still comes.
    static let applicationNotSignalled = DaemonMessage(
        "a80c5f17e3924bd6b91d64f2c07e385a", .error, "an application cannot be signalled")
    /// The kill was refused; it is tried again.
    static let applicationNotKilled = DaemonMessage(
        "6d3e91b5c07f482ab4e8f1d92a60c573", .error, "an application cannot be killed")
    /// Its processes may stand still until somebody thaws it.
    static let unitNotThawed = DaemonMessage(
        "f1b642ea8d3047c59ce70a5fb81d2936", .error, "a unit cannot be thawed")
    /// A mistake of the daemon's own; the event was passed over. What it was and how things stood are in the fields.
    package static let fault = DaemonMessage(
        "f3a81d6c0b9e47d2a5c64e17d8209fb3", .critical, "what must never happen has happened")
    /// No deadline could be kept, so the daemon ends.
    static let timerNotArmed = DaemonMessage(
        "48bd92941495b2e4e01c750e788724f2", .critical, "the timer cannot be armed")
    /// Calls wait until something else happens.
    static let turnNotContinued = DaemonMessage(
        "6a3e67cfa6c1d5a676b31206fbd87f19", .error, "a turn cannot be continued")
    /// Clients whose calls came at the end get no answer.
    static let lastCallsNotRead = DaemonMessage(
        "734261163f85b23f23eaf3f4a6c364ec", .error, "the last calls cannot be read")
    /// There were more than the end has time for.
    static let lastCallsNotTaken = DaemonMessage(
        "fb69c24075ac405faa8d72786a541734", .notice, "calls are left without an answer")
    /// A commit failed: nothing new is taken in until the disk takes writes again.
    static let storeFailed = DaemonMessage(
        "5d0cc9a2f5b34d1b8e1f0c9d7a64be10", .error, "tasks cannot be stored")
    /// The disk takes writes again.
    static let storeHealed = DaemonMessage(
        "b1f6a7de3c0f4a7b96c1e2d4f08a5573", .notice, "tasks are stored again")
    /// What the store does beside commits: the write-ahead log, the bounds of the history.
    static let storeNotKept = DaemonMessage(
        "3c9b8f52d1e64f0aa7d5c6e1820b94f7", .warning, "the store cannot be kept in order")
    /// Of who has most, the oldest; a submission would have been refused otherwise.
    static let historyCut = DaemonMessage(
        "7be0d3a194c24f688d1560fa27c9b3e4", .warning,
        "ended tasks are forgotten, since the disk is full")
    /// What tasks printed is kept in memory alone, until the disk takes it again.
    static let outputNotKept = DaemonMessage(
        "a4e0c1d87b5f49d2b93c6f12e7805ad6", .warning, "output of ended tasks cannot be kept")
    /// What the daemon before this one had read of it, which was killed.
    static let outputLost = DaemonMessage(
        "91c3e7b05d2a4f68b4f0a86d13c97e52", .warning,
        "what a task had printed before the daemon was started is lost")
    /// The disk took them too slowly, or not at all; those of an account in a second are one entry.
    static let spansDropped = DaemonMessage(
        "d6684ee4e2864ae4a18cd7de658cc8da", .warning, "past states of applications are lost")
    /// At the end of a stop.
    static let storeNotWaitedFor = DaemonMessage(
        "e7a4d0b96f1c48b3952ad8c3f6017be2", .error, "ends of tasks were not written to disk in time"
    )
    /// An operator holds back what is queued in a group.
    static let groupPaused = DaemonMessage(
        "6f0c2b7d94e14a5f8d31c7a92e58b406", .notice, "a group was paused")
    /// An operator lets go what is queued in a group.
    static let groupResumed = DaemonMessage(
        "d28e91f35b7c4c0da64f0e83b1972c5a", .notice, "a group was resumed")
    /// Nothing of a user starts, by their own order or an operator's.
    static let ownerPaused = DaemonMessage(
        "0b7e4a91d6c3482f9a5fd108e37c62b4", .notice, "all tasks of a user were paused")
    /// They start again.
    static let ownerResumed = DaemonMessage(
        "94d1f3c60a8e4b7fb2c75e9068d31fa7", .notice, "all tasks of a user were resumed")
    /// A user has had ended tasks forgotten; their numbers are the reason.
    static let cleaned = DaemonMessage(
        "5d1f0c7be3a94c06b8d24f97a6e1380c", .notice, "ended tasks were removed from the history")
    /// An operator has ordered how many slots there are; whose and how many is the reason.
    static let slotsOrdered = DaemonMessage(
        "e2a75d0c41f84b96b38d60c7f915ae23", .notice, "the number of slots was ordered")
    /// sd_notify(3) failed.
    static let statusNotSent = DaemonMessage(
        "e5c74d8ad5821ca9e300346f4cf20226", .error, "the status cannot be sent to systemd")
    /// The status sentence grows old.
    static let statusTimerNotArmed = DaemonMessage(
        "3ebdcdcc9497dce1871a9b65091ad5b3", .error, "the status timer cannot be armed")
    /// sd_notify(3) failed; systemd may lose patience earlier.
    static let stopNotTold = DaemonMessage(
        "64d59ba0b877e1212c09472c3830dd66", .error, "the stop cannot be announced to systemd")
    /// sd_notify(3) failed; systemctl reload may wait in vain.
    static let reloadNotTold = DaemonMessage(
        "0ae6cf6536751f5106ccd07000ebcea5", .error, "the reload cannot be reported to systemd")
    /// It holds now, or no longer; what was read is the reason.
    static let conditionChanged = DaemonMessage(
        "43afa37910ad4cc498463a7ecc6a0177", .debug, "a condition of queued tasks has changed")
    /// It counts as one that does not hold, and is tried again.
    static let conditionNotRead = DaemonMessage(
        "81b768eaab3c4a1bb319a20c845dc7f1", .warning, "a condition of queued tasks cannot be read")
    /// The kernel sends no uevents.
    static let powerNotTold = DaemonMessage(
        "4bdc3aabdaea4cf6becf550670138631", .notice, "changes of the power supply are not reported")
}

extension Logger {
    /// Says something in the daemon's own name.
    ///
    /// - Parameter detail: what follows the sentence for who reads the line alone; the fields have it too.
    package func say(
        _ message: DaemonMessage, _ fields: [JournalField: String] = [:], detail: String? = nil
    ) {
        var metadata = Logger.Metadata(minimumCapacity: fields.count + 1)
        metadata[JournalField.messageID.name] = .string(message.id.hex)
        for (field, value) in fields { metadata[field.name] = .string(value) }
        let detail = detail.map { ": \($0)" } ?? ""
        log(level: message.level, "\(message.sentence)\(detail)", metadata: metadata)
    }
}
