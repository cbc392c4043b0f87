import Foundation

/// What the program was called with.
struct Options: Sendable {
    static let usage = """
        usage: GroceryDude [--store FILE] [--host NAME] [--port NUMBER] [--default-data] [--demo] [--check] [--verbose]

          --store FILE     the store; default: GroceryDude.sqlite in the user's folder for application data
          --host NAME      the address to listen on; default: 127.0.0.1. 0.0.0.0 lets phones on the network in
          --port NUMBER    the port; default: 8080, or what the variable PORT says; 0 for any
          --default-data   fill a new store with common groceries
          --demo           use a store of its own that is made anew, with a shopping list half done
          --check          start on any port, ask for every page, say whether all is sound, and end
          --verbose        log every request
        """

    /// Why the program cannot begin.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    var store: URL
    var host = "127.0.0.1"
    var port = 8080
    var defaultData = false
    var isDemo = false
    var isCheck = false
    var isVerbose = false
    var wantsHelp = false
    /// Whether the store is made for this run alone.
    private(set) var isTemporary = false

    init(_ arguments: some Sequence<String>) throws {
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
            case "--port": port = try Self.port(try value())
            case "--default-data": defaultData = true
            case "--demo": isDemo = true
            case "--check": isCheck = true
            case "--verbose": isVerbose = true
            case "--help", "-h": wantsHelp = true
            default: throw Problem(description: "there is no option \(argument)\n\n\(Self.usage)")
            }
        }
        if let store {
            self.store = URL(fileURLWithPath: store)
        } else if isDemo || isCheck {
            isTemporary = true
            self.store = FileManager.default.temporaryDirectory
                .appendingPathComponent("GroceryDude-\(UUID().uuidString)").appendingPathComponent("Demo.sqlite")
        } else {
            self.store = Self.folder(environment).appendingPathComponent("GroceryDude.sqlite")
        }
    }

    private static func port(_ text: String) throws -> Int {
        guard let port = Int(text), (0...65535).contains(port) else {
            throw Problem(description: "'\(text)' is no port: 0 to 65535 are")
        }
        return port
    }

    private static func folder(_ environment: [String: String]) -> URL {
        let base =
            environment["XDG_DATA_HOME"].flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0) }
            ?? FileManager.default.homeDirectoryForCurrentUser.appendingPathComponent(".local/share")
        return base.appendingPathComponent("GroceryDude", isDirectory: true)
    }
}
