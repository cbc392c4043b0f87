import Foundation

/// What the program was called with.
package struct LaunchOptions: Sendable {
    /// An option that only one app has; it has a value.
    package struct Own: Sendable {
        /// "--sync-folder".
        let name: String
        /// "FOLDER".
        let value: String
        /// What it does, in lines.
        let help: [String]

        package init(_ name: String, _ value: String, _ help: String...) {
            (self.name, self.value, self.help) = (name, value, help)
        }

        fileprivate var usage: String {
            let lines = help.map { String(repeating: " ", count: 19) + $0 }
            return (["  \(name) \(value)"] + lines).joined(separator: "\n")
        }
    }

    static func usage(_ program: String, _ own: [Own] = []) -> String {
        let names = own.map { " [\($0.name) \($0.value)]" }.joined()
        return ([general(program, names)] + own.map(\.usage)).joined(separator: "\n")
    }

    private static func general(_ program: String, _ names: String) -> String {
        """
        usage: \(program) [--store FILE] [--host NAME] [--allowed-host NAME] [--port NUMBER] [--default-data] [--copy-from FILE] [--demo] [--check] [--verbose]\(names)

          --store FILE     the store; default: \(program).sqlite in the user's folder for application data. A postgresql:// URL is
                           a store on a server, in a program that was built with the trait PostgreSQL
          --host NAME      the address to listen on; default: 127.0.0.1. 0.0.0.0 lets phones on the network in
          --allowed-host NAME
                           a name under which browsers may ask for the server, beside localhost and the addresses of the machine: that of
                           the machine in the network, or of a proxy. May be given again for other names
          --port NUMBER    the port; default: 8080, or what the variable PORT says; 0 for any
          --default-data   fill a new store with what most begin with
          --copy-from FILE take over what another store has
          --demo           use a store of its own that is made anew, with something in it
          --check          start on any port, ask for every page, say whether all is sound, and end
          --verbose        log every request
        """
    }

    /// What the app is called, as a program.
    package let program: String

    /// Why the program cannot begin.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    package var store: URL
    package var host = "127.0.0.1"
    /// Names under which browsers may ask for the server.
    package var allowedHosts: [String] = []
    package var port = 8080
    package var defaultData = false
    /// A store whose objects are to be copied.
    package var copied: URL?
    package var isDemo = false
    package var isCheck = false
    package var isVerbose = false
    package var wantsHelp = false
    /// The values of the app's own options, by name.
    package private(set) var own: [String: String] = [:]
    /// Whether the store is made for this run alone.
    package private(set) var isTemporary = false

    /// Whether only programs of this machine reach the server: it listens on no other address, and no proxy was spoken of.
    package var isForThisMachineOnly: Bool {
        HostNames.isLoopback(host) && allowedHosts.isEmpty
    }

    /// - Parameter own: the options that only this app has.
    package init(_ program: String, _ arguments: some Sequence<String>, own ownOptions: [Own] = []) throws {
        self.program = program
        let environment = ProcessInfo.processInfo.environment
        var store: String?
        var arguments = Array(arguments)[...]
        if let text = environment["PORT"], !text.isEmpty { port = try Self.port(text) }
        while let argument = arguments.popFirst() {
            func value() throws -> String {
                guard let value = arguments.popFirst() else { throw Problem(description: "\(argument) needs a value") }
                return value
            }
            switch argument {
            case "--store": store = try value()
            case "--host": host = try value()
            case "--allowed-host": allowedHosts.append(try Self.hostName(try value()))
            case "--port": port = try Self.port(try value())
            case "--default-data": defaultData = true
            case "--copy-from": copied = URL(fileURLWithPath: try value())
            case "--demo": isDemo = true
            case "--check": isCheck = true
            case "--verbose": isVerbose = true
            case "--help", "-h": wantsHelp = true
            case _ where ownOptions.contains { $0.name == argument }: own[argument] = try value()
            default:
                throw Problem(description: "there is no option \(argument)\n\n\(Self.usage(program, ownOptions))")
            }
        }
        if let store {
            self.store = try StorePlace.url(store)
        } else if isDemo || isCheck {
            isTemporary = true
            self.store = FileManager.default.temporaryDirectory
                .appendingPathComponent("\(program)-\(UUID().uuidString)").appendingPathComponent("Demo.sqlite")
        } else {
            self.store = Self.folder(program, environment).appendingPathComponent("\(program).sqlite")
        }
    }

    private static func hostName(_ text: String) throws -> String {
        guard !text.isEmpty, !text.contains(where: { $0.isWhitespace || $0 == "/" || $0 == "*" }) else {
            throw Problem(
                description: "--allowed-host: '\(text)' is no name of a host; type one such as groceries.local")
        }
        return text
    }

    private static func port(_ text: String) throws -> Int {
        guard let port = Int(text), (0...65535).contains(port) else {
            throw Problem(description: "'\(text)' is no port: 0 to 65535 are")
        }
        return port
    }

    static func folder(_ program: String, _ environment: [String: String]) -> URL {
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return base.appendingPathComponent(program, isDirectory: true)
    }
}
