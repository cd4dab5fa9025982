extension UnitConversation {
    /// Freezes, or sends a signal: what needs one call alone.
    func order(
        _ request: UnitRequest, by deadline: UInt64,
        completion: @escaping (Result<Void, UnitFailure>) -> Void
    ) {
        call(request, by: deadline) { result in completion(result.map { _ in }) }
    }

    /// Thaws a unit; one that has nothing to thaw is a success.
    func thaw(
        _ unit: String, by deadline: UInt64,
        completion: @escaping (Result<Void, UnitFailure>) -> Void
    ) {
        call(.thaw(unit), by: deadline) { [self] result in
            guard case .failure(let failure) = result else { return completion(.success(())) }
            switch failure.errorName {
            case UnitFailure.noSuchUnit: completion(.success(()))
            case UnitFailure.unitInactive:
                // It may be on its way up or down with processes that are frozen. FreezerState would not
                // tell: systemd 252 leaves that at `frozen` where a frozen unit was killed.
                describe(unit, by: deadline) { described in
                    let isGone = Self.hasEnded(described)
                    completion(isGone ? .success(()) : .failure(failure))
                }
            default: completion(.failure(failure))
            }
        }
    }

    private static func hasEnded(_ described: Result<UnitDescription, UnitFailure>) -> Bool {
        switch described {
        case .success(let unit): unit.activeState == "inactive" || unit.activeState == "failed"
        case .failure(let failure): failure.errorName == UnitFailure.noSuchUnit
        }
    }

    /// Asks for what must be known before a unit may be frozen.
    func describe(
        _ unit: String, by deadline: UInt64,
        completion: @escaping (Result<UnitDescription, UnitFailure>) -> Void
    ) {
        let request = UnitRequest.find(unit)
        call(request, by: deadline) { [self] result in
            switch result {
            case .success(.text(let object)):
                read(unit, at: object, by: deadline, completion: completion)
            case .success: completion(.failure(UnitFailure(unreadable: request)))
            case .failure(let failure): completion(.failure(failure))
            }
        }
    }

    /// Reads the properties one by one: all of them are hundreds, and cost the manager a look into each
    /// file of the unit's control group.
    private func read(
        _ unit: String, at object: String, by deadline: UInt64,
        completion: @escaping (Result<UnitDescription, UnitFailure>) -> Void
    ) {
        let asked = UnitDescription.properties(of: unit)
        var values: [String: BusValue] = [:]
        var failure: UnitFailure?
        var remaining = asked.count
        for property in asked {
            let request = UnitRequest.property(
                property.name, interface: property.interface, of: unit, object: object)
            call(request, by: deadline) { result in
                remaining -= 1
                switch result {
                case .success(let value): values[property.name] = value
                case .failure(let new): failure = failure ?? new
                }
                guard remaining == 0 else { return }
                if let failure {
                    completion(.failure(failure))
                } else if let described = UnitDescription(unit: unit, values) {
                    completion(.success(described))
                } else {
                    completion(.failure(UnitFailure(unreadable: .find(unit))))
                }
            }
        }
    }
}
