import BudgetCore
import CallFuzz
import TaskAPI
import Testing
import Varlink

@Suite("Ranges of the numbers in calls")
struct NumberRangeTests {
    @Test("every method of the descriptions is among those whose fields are looked at")
    func methods() {
        #expect(ServedMethods.all.map { $0.name }.sorted() == DescribedMethod.all.map(\.name))
    }

    @Test("every number of every call has a range, and no arithmetic in nanoseconds leaves 64 bits")
    func everyNumber() {
        #expect(BoundedField.numbers.count >= 30)
        for number in BoundedField.numbers {
            guard let range = number.field.range else {
                Issue.record("\(number.method): \(number.name) has no range")
                continue
            }
            guard number.field.name.hasSuffix("Ms") else { continue }
            #expect(range.lowerBound >= 0, "\(number.name)")
            #expect(!range.upperBound.multipliedReportingOverflow(by: 1_000_000).overflow)
        }
    }

    @Test("every list and map of every call is bounded, or is numbers")
    func everyCollection() {
        for field in BoundedField.collections where field.field.range == nil {
            #expect(field.field.limit != nil, "\(field.method): \(field.name) has no limit")
        }
    }

    @Test("a number just outside of its range is refused by its name, and one just inside is read")
    func edges() throws {
        for number in BoundedField.numbers {
            guard let range = number.field.range else { continue }
            for inside in [range.lowerBound, range.upperBound] {
                #expect(Self.refused(number, String(inside)) == nil, "\(number.name) \(inside)")
            }
            let (below, noneBelow) = range.lowerBound.subtractingReportingOverflow(1)
            let (above, noneAbove) = range.upperBound.addingReportingOverflow(1)
            for outside in (noneBelow ? [] : [below]) + (noneAbove ? [] : [above]) {
                #expect(Self.refused(number, String(outside)) == number.name, "\(outside)")
            }
            #expect(Self.refused(number, "9223372036854775808") == number.name)
        }
    }

    @Test("one element more than a limit is refused by its name before the elements are read")
    func counts() {
        for field in BoundedField.collections {
            guard let limit = field.field.limit else { continue }
            let isMap = if case .map = field.field.type.withoutOptional { true } else { false }
            // Numbers, where texts are due: so many that none of them is looked at.
            let element = { (index: Int) in isMap ? "\"\(index)\":0" : "0" }
            for (count, reason) in [(limit.max, "must be of type"), (limit.max + 1, limit.name)] {
                let elements = (0..<count).map(element).joined(separator: ",")
                let error = Self.error(field, isMap ? "{\(elements)}" : "[\(elements)]")
                #expect(error?.description.contains(reason) == true, "\(field.name): \(count)")
            }
        }
    }

    @Test("the ranges are those that the core has")
    func core() {
        let hundredYears = Int(Budget.durationMax.components.seconds) * 1000
        #expect(ClosedRange<Int>.budgetMilliseconds == 1...hundredYears)
        let limits = RegistryLimits()
        #expect(ClosedRange<Int>.priorities == -limits.priorityMax...limits.priorityMax)
        let wait = Int(limits.waitMax.components.seconds) * 1000
        #expect(ClosedRange<Int>.waitMilliseconds == 0...wait)
        #expect(ClosedRange<Int>.attempts == 1...Retry.attemptsMax)
        let delay = Int(Retry.delayMax.components.seconds) * 1000
        #expect(ClosedRange<Int>.retryMilliseconds == 0...delay)
    }

    /// The parameter that a call is refused for which has this value for a field; `nil` where it is read.
    private static func refused(_ field: BoundedField, _ value: String) -> String? {
        error(field, value)?.parameter
    }

    private static func error(_ field: BoundedField, _ value: String) -> MessageError? {
        guard let method = ServedMethods.all.first(where: { $0.name == field.method }),
            let call = SystematicCalls.call(of: field, value)
        else { return MessageError("no call", .missing) }
        return error(method, call)
    }

    private static func error<M: Method>(_ method: M.Type, _ call: Call) -> MessageError? {
        do throws(MessageError) {
            _ = try call.decode(M.Input.self)
            return nil
        } catch {
            return error
        }
    }
}

extension VarlinkType {
    fileprivate var withoutOptional: VarlinkType {
        if case .optional(let inner) = self { inner } else { self }
    }
}
