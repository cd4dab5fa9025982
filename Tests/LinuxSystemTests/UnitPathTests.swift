import LinuxSystem
import Testing

extension LinuxTests {
    /// Which unit a group belongs to.
    @Suite struct UnitPathTests {
        @Test(
            "a unit is the first name behind the slices, or behind those of a user's manager",
            arguments: [
                (
                    "/system.slice/cooler.service", "cooler.service", nil,
                    "/system.slice/cooler.service"
                ),
                ("/cooler.service/a/b.scope", "cooler.service", nil, "/cooler.service"),
                (
                    "/a.slice/a-b.slice/x@1.service/init.scope", "x@1.service", nil,
                    "/a.slice/a-b.slice/x@1.service"
                ),
                (
                    "/user.slice/user-7.slice/session-3.scope", "session-3.scope", nil,
                    "/user.slice/user-7.slice/session-3.scope"
                ),
                (
                    "/user.slice/user-7.slice/user@7.service", "user@7.service", nil,
                    "/user.slice/user-7.slice/user@7.service"
                ),
                (
                    "/user.slice/user@7.service/app.slice/_cpu.scope/x", "cpu.scope", 7,
                    "/user.slice/user@7.service/app.slice/_cpu.scope"
                ),
                ("/user@7.service/init.scope", "init.scope", 7, "/user@7.service/init.scope"),
                (
                    "/machine.slice/m\\x2d1.scope", "m\\x2d1.scope", nil,
                    "/machine.slice/m\\x2d1.scope"
                ),
            ] as [(String, String, UInt32?, String)])
        func units(group: String, name: String, user: UInt32?, own: String) throws {
            let path = try #require(UnitPath(group: group))
            #expect(path.name == name)
            #expect(path.manager == user.map { .user($0) } ?? .system)
            #expect(path.group == own)
        }

        @Test(
            "elsewhere there is no unit that could be frozen",
            arguments: [
                "/", "", "/system.slice", "/payload", "/payload/x.service", "/.service",
                "/dev.mount",
                "/user@7.service/app.slice", "/user@7.service/x.mount", "/x y.service",
                "/../x.service",
                "/x.service (deleted)", "/user@x.service/\u{e9}.service",
            ])
        func none(group: String) {
            let path = UnitPath(group: group)
            #expect(path == nil || path?.protection != nil, "\(String(describing: path))")
        }

        @Test("what holds more than an application is protected")
        func protection() throws {
            for group in [
                "/init.scope", "/user.slice/session-c2.scope", "/user@7.service",
                "/user@7.service/init.scope",
            ] {
                #expect(try #require(UnitPath(group: group)).protection != nil, "\(group)")
            }
            for group in ["/x.service", "/user@7.service/session-1.scope", "/sessions.scope"] {
                #expect(try #require(UnitPath(group: group)).protection == nil, "\(group)")
            }
        }
    }
}
