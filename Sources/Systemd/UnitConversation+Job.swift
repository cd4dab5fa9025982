extension UnitConversation {
    /// Asks what job the unit of a process has, in three calls; `nil` where there is none.
    func jobType(
        ofProcess process: UInt32, by deadline: UInt64,
        completion: @escaping (Result<String?, UnitFailure>) -> Void
    ) {
        text(.findUnit(ofProcess: process), by: deadline) { [self] found in
            guard case .success(let unit) = found else { return completion(found.map { $0 }) }
            let job = UnitRequest.property(
                "Job", interface: "org.freedesktop.systemd1.Unit", of: unit, object: unit)
            text(job, by: deadline) { [self] found in
                guard case .success(let job) = found else { return completion(found.map { $0 }) }
                // The manager's word for none.
                guard job != "/" else { return completion(.success(nil)) }
                let type = UnitRequest.property(
                    "JobType", interface: "org.freedesktop.systemd1.Job", of: unit, object: job)
                text(type, by: deadline) { completion($0.map { $0 }) }
            }
        }
    }

    /// Makes a call that is answered by a text.
    private func text(
        _ request: UnitRequest, by deadline: UInt64,
        completion: @escaping (Result<String, UnitFailure>) -> Void
    ) {
        call(request, by: deadline) { result in
            switch result {
            case .success(.text(let text)): completion(.success(text))
            case .success: completion(.failure(UnitFailure(unreadable: request)))
            case .failure(let failure): completion(.failure(failure))
            }
        }
    }
}
