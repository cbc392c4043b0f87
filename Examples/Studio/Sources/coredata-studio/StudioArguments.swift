import CoreDataStudio
import Foundation

/// The arguments of the program.
struct StudioArguments: Sendable {
    struct Problem: LocalizedError {
        let text: String

        var errorDescription: String? { text }
    }

    static let usage = """
        usage: coredata-studio [MODEL] [STORE] [--write] [--port NUMBER] [--model-version NAME] [--infer]
                               [--compare STORE]
               coredata-studio --demo [--port NUMBER]

          MODEL                 an .xcdatamodeld, .xcdatamodel, .momd or .mom
          STORE                 the file of a store, or a postgresql:// URL. Without MODEL, the model is the copy that the
                                store keeps, or is inferred from its tables
          --write               allow changes to the store's objects; without it the store is opened for reading only
          --port NUMBER         the port; default: 8086, or another one if it is taken. 0 for any
          --model-version NAME  the version of a model that has several; default: the one that fits the store
          --infer               make the model from the store's tables
          --compare STORE       a store of the same model, suggested on the page that compares stores
          --demo                a model and a store with generated objects, in a temporary folder; both may be changed
        """

    private(set) var model: URL?
    private(set) var store: URL?
    private(set) var options = StudioOptions()
    private(set) var port: Int?
    private(set) var wantsHelp = false
    private(set) var wantsDemo = false

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        func value(_ name: String) throws -> String {
            guard let value = rest.popFirst() else { throw Problem(text: "\(name) takes a value.") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": wantsHelp = true
            case "--demo": wantsDemo = true
            case "--write": options.isWritable = true
            case "--infer": options.infersModel = true
            case "--model-version": options.modelVersion = try value(argument)
            case "--compare": options.comparedStore = Self.url(try value(argument))
            case "--port":
                let text = try value(argument)
                guard let number = Int(text), (0...65_535).contains(number) else {
                    throw Problem(text: "--port takes a number from 0 to 65535, not '\(text)'.")
                }
                port = number
            case _ where argument.hasPrefix("-"):
                throw Problem(text: "Unknown option '\(argument)'.\n\(Self.usage)")
            case _ where Self.isModel(argument):
                guard model == nil else { throw Problem(text: "There are two models; Studio shows one.") }
                model = URL(fileURLWithPath: argument)
            default:
                guard store == nil else { throw Problem(text: "There are two stores; --compare names the second one.") }
                store = Self.url(argument)
            }
        }
        if wantsDemo, model != nil || store != nil { throw Problem(text: "--demo brings its own model and store.") }
        if wantsDemo { options.isWritable = true }
        if options.isWritable, store == nil, !wantsDemo { throw Problem(text: "--write goes with a store.") }
        if options.infersModel, model != nil { throw Problem(text: "Choose one of --infer and a model.") }
    }

    /// Shows the demo's model and store.
    mutating func show(_ demo: Demo) {
        model = demo.model
        store = demo.store
    }

    private static func isModel(_ path: String) -> Bool {
        let name = path.hasSuffix("/") ? String(path.dropLast()) : path
        return ["xcdatamodeld", "xcdatamodel", "momd", "mom", "omo"].contains(
            URL(fileURLWithPath: name).pathExtension.lowercased())
    }

    private static func url(_ text: String) -> URL {
        if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://"), let url = URL(string: text) { return url }
        return URL(fileURLWithPath: text)
    }
}
