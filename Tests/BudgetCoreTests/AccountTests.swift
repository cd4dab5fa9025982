import BudgetCore
import Testing

@Suite("Whose rights a command starts with")
struct AccountTests {
    private static let owner = OwnerID(rawValue: 1500)
    private static let noGroup: UInt32 = 65_534
    private static let groups = SubmitterGroups(primary: 1500, supplementary: [4, 1503, 1500])

    private static func account(
        _ name: String = "dave", _ groups: Set<UInt32> = [1503], expiryDay: Int? = nil
    ) -> Account {
        Account(name: name, group: 1500, groups: groups, expiryDay: expiryDay)
    }

    private static func refusal(
        _ submitter: Submitter, _ account: Account?, today: Int = 100
    ) -> String? {
        do throws(StartRefusal) {
            _ = try submitter.groupsGranted(to: owner, by: account, or: noGroup, today: today)
            return nil
        } catch {
            return error.description
        }
    }

    @Test("groups are cut to those of now, in the order in which they were; none is added")
    func cut() throws {
        let submitter = Submitter(name: "dave", groups: Self.groups)
        let granted = try submitter.groupsGranted(
            to: Self.owner, by: Self.account("dave", [1503, 27]), or: Self.noGroup, today: 0)
        #expect(granted == SubmitterGroups(primary: 1500, supplementary: [1503, 1500]))
    }

    @Test("a primary group of which one is no member becomes the account's own")
    func primary() throws {
        let groups = SubmitterGroups(primary: 1503, supplementary: [])
        let submitter = Submitter(name: "dave", groups: groups)
        let member = try submitter.groupsGranted(
            to: Self.owner, by: Self.account(), or: Self.noGroup, today: 0)
        #expect(member.primary == 1503)
        let other = try submitter.groupsGranted(
            to: Self.owner, by: Self.account("dave", []), or: Self.noGroup, today: 0)
        #expect(other.primary == 1500)
    }

    @Test("the database grants nothing to whom it does not know")
    func nameless() throws {
        let submitter = Submitter(name: "", groups: Self.groups)
        let granted = try submitter.groupsGranted(
            to: Self.owner, by: nil, or: Self.noGroup, today: 0)
        #expect(granted == SubmitterGroups(primary: Self.noGroup, supplementary: []))
    }

    @Test("root keeps what it had, whatever the database says")
    func root() throws {
        let submitter = Submitter(name: "root", groups: Self.groups)
        let toor = Account(name: "toor", group: 0, groups: [], expiryDay: 0)
        for account in [nil, toor] {
            let granted = try submitter.groupsGranted(
                to: .root, by: account, or: Self.noGroup, today: 100)
            #expect(granted == Self.groups)
        }
    }

    @Test("another name, none any more, and the first one are refused; an unknown one is not")
    func names() {
        #expect(
            Self.refusal(Submitter(name: "dave"), Self.account("eve"))
                == "uid 1500 belonged to dave when it was submitted and belongs to eve now")
        #expect(
            Self.refusal(Submitter(name: "dave"), nil) == "the account dave of uid 1500 is gone")
        #expect(
            Self.refusal(Submitter(name: ""), Self.account("eve"))
                == "uid 1500 belonged to nobody when it was submitted and belongs to eve now")
        #expect(Self.refusal(Submitter(name: ""), nil) == nil)
        #expect(Self.refusal(Submitter(), Self.account("eve")) == nil)
        #expect(Self.refusal(Submitter(), nil) == nil)
    }

    @Test(
        "an account has expired from its day on",
        arguments: [(99, true), (100, true), (101, false)])
    func expiry(day: Int, hasExpired: Bool) {
        let refusal = Self.refusal(Submitter(name: "dave"), Self.account(expiryDay: day))
        #expect(refusal == (hasExpired ? "the account dave has expired" : nil))
    }

    @Test("who launches an application gives it their groups, and takes privileges alone")
    func launcher() {
        let registered = Submitter(name: "dave", groups: Self.groups)
        #expect(registered.launched(by: nil) == registered)
        let bare = SubmitterGroups(primary: 1500, supplementary: [])
        let confined = Submitter(groups: bare, hasNoNewPrivileges: true)
        #expect(
            registered.launched(by: confined)
                == Submitter(name: "dave", groups: bare, hasNoNewPrivileges: true))
        let free = Submitter(groups: Self.groups)
        #expect(confined.launched(by: free).hasNoNewPrivileges)
    }
}
