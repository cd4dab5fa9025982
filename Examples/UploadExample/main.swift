// Uploads in the background: on leaving the front it borrows the time for it, and gives it back when
// done.
//
//     upload-example SOURCE DESTINATION [PIECE_MS [INTERVAL_SECONDS]]
//
// At most once in INTERVAL_SECONDS (600), of which only successful uploads count. DESTINATION is a
// file here, and PIECE_MS (100) the time that the network takes for a piece.

internal import ApplicationKit
internal import TaskAPI

func upload(_ upload: Upload, pieceMs: Int, _ interval: Interval) throws {
    let application = try Application()
    var uploads = false
    var task: Int?
    while true {
        // While it uploads, a piece is due where nothing else happens.
        let event = try application.nextEvent(within: uploads ? pieceMs : nil)
        switch event?.callback {
        case .willTerminate: return
        case .didEnterBackground:
            guard try uploads || interval.isOver() else {
                say("no upload: the last one is less than \(interval.seconds) s ago")
                continue
            }
            uploads = true
            task = try application.begin("upload")
            say("uploads")
        case .backgroundTimeExpiring where uploads:
            uploads = false
            say("stops, since the time is nearly over")
        default:
            if event == nil { uploads = sendPiece(upload, interval) }
        }
        // In front it needs no borrowed time to go on.
        if let borrowed = task, application.isInFront || !uploads {
            try application.end(borrowed)
            task = nil
        }
    }
}

/// - Returns: whether there are others to send.
func sendPiece(_ upload: Upload, _ interval: Interval) -> Bool {
    do {
        if try !upload.sendPiece() { return true }
        try interval.start()
        say("done")
    } catch {
        say("failed: \(error)")
    }
    return false
}

run("upload-example SOURCE DESTINATION [PIECE_MS [INTERVAL_SECONDS]]") { arguments in
    try upload(
        Upload(source: arguments[0], destination: arguments[1]),
        pieceMs: arguments.number(2, or: 100),
        Interval(path: arguments[1] + ".last", seconds: arguments.number(3, or: 600)))
}
