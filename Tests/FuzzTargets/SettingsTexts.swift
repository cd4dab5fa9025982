import Settings

/// Settings files.
enum SettingsTexts {
    static func run(_ bytes: [UInt8]) {
        do throws(SettingsErrors) {
            let loaded = try LoadedSettings(parsing: bytes)
            let difference = loaded.difference(to: loaded)
            precondition(difference.changed.isEmpty && difference.needRestart.isEmpty)
        } catch {
            precondition(!error.description.isEmpty)
            for found in error.all {
                precondition(!found.text.contains("\n"), "more than one line: \(found.text)")
            }
        }
        guard bytes.count < 256, let span = try? TimeSpan(parsing: text(bytes)) else { return }
        // A time is written so that it can be read again.
        precondition((try? TimeSpan(parsing: span.description)) == span, "\(span)")
    }

    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self)
    }
}
