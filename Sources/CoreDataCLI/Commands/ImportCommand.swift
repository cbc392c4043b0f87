import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes objects of the records of a file, or finds and changes them.",
        usage: "coredata import [<options>] <store> <file>",
        discussion: """
            Reads XML (the children of the root element; their attributes are the fields), JSON (an array of objects), \
            NDJSON (one object a line) and CSV (the first row names the fields). What 'coredata export' wrote needs no \
            option: it tells the entity of each record, and the IDs by which records mean each other. A folder is read \
            as a file for each entity, such as Item.csv.

            A field is for the property of its name, in any case; a name with dots, and --map, leads to a property of \
            a related object. --unique says what tells an entity's objects apart: with it an object that exists is \
            found and changed instead of made again, related objects too. Without --unique the uniqueness constraints \
            of the model count; where there are none either, related objects are made anew, and a note says so.

            Text is kept exactly as it is. An empty field of XML or CSV is no value, unless the attribute is a text \
            that must have one; for a related object it is no object. --keep-empty keeps empty texts. Fields that are \
            not in a record are left as they are.

            Records are saved in batches; a batch is saved whole or not at all. The first invalid record stops the \
            import, and nothing of its batch is saved, unless --skip-invalid leaves it out. A record that must lead to \
            an object of a later record keeps its batch open until that is read. Other links to later records are made \
            in the end: where a relationship has an order that no record tells, they come last.

            EXAMPLES
              coredata import New.sqlite Old.json
              coredata import Shop.sqlite --entity Item \\
                --unique Item.name,Unit.name items.json
              coredata import Shop.sqlite --entity Item --unique Item.name,Unit.name \\
                --map unit=unit.name --map size=quantity items.xml
              coredata export Old.sqlite --format ndjson | \\
                coredata import New.sqlite --format ndjson -
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @Argument(help: "The file or folder to read; '-' for standard input.", completion: .file())
    var file: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(help: "The entity that the records are of. Without it the file tells.")
    var entity: String?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An attribute that tells the entity's objects apart; several of one entity do so together.",
            valueName: "Entity.attribute"))
    var unique: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "Which property a field is for; with nothing after '=' the field is left out.", valueName: "field=key.path")
    )
    var map: [String] = []

    @Option(help: "The format of the file. Without it the end of the file's name tells.")
    var format: RecordFormat?

    @Option(help: "XML: the name of the repeated element, where the root has several kinds.")
    var element: String?

    @Option(help: "CSV: the character between fields, or 'tab'.")
    var delimiter: String?

    @Flag(help: "Keep an empty field of XML or CSV as an empty text.")
    var keepEmpty = false

    @Flag(help: "Leave invalid records out, list them and exit with 1.")
    var skipInvalid = false

    @Option(parsing: .unconditional, help: "How many records to save at once.")
    var batchSize = 500

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        if batchSize < 1 { throw ValidationError("--batch-size takes a number from 1.") }
        if entity == nil, !map.isEmpty || element != nil {
            throw ValidationError("\(map.isEmpty ? "--element" : "--map") goes with --entity.")
        }
        if format == nil, RecordFormat(fileName: file) == nil, !isFolder {
            throw ValidationError("The name of '\(file)' does not tell its format; give --format.")
        }
        _ = try delimiterByte(of: file)
    }

    private var isFolder: Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) && isFolder.boolValue
    }

    func run() throws {
        let opened = try OpenStore(changing: store, model: modelOptions)
        let uniques = try UniqueAttributes(
            options: unique.flatMap { $0.split(separator: ",").map(String.init) }, in: opened.model)
        let entity = try entity.map { try opened.entity(named: $0) }
        let sources = try sources(opened, entity)
        var run = ImportRun(
            sources,
            builders: try DraftBuilders(opened.model, uniques: uniques, entity: entity, maps: try maps(of: entity)),
            into: opened.makeContext(), uniques: uniques, batchSize: batchSize, skipsInvalid: skipInvalid)
        try run.runAtTerminal()
        run.noteLeftOut()
        print(json ? run.summary.json : run.summary.text, terminator: "")
        if run.summary.skipped > 0 || !run.summary.missing.isEmpty { throw ExitCode(1) }
    }

    /// Returns the `--map` options by field name.
    private func maps(of entity: NSEntityDescription?) throws -> [String: String] {
        var maps: [String: String] = [:]
        for option in map {
            guard let equals = option.firstIndex(of: "="), equals != option.startIndex else {
                throw ToolFailure("--map takes field=key.path, e.g. aisle=locationAtShop.aisle, not '\(option)'.")
            }
            let path = String(option[option.index(after: equals)...])
            if let entity, !path.isEmpty {
                do { _ = try PropertyPath(path, of: entity) } catch let failure as ToolFailure {
                    throw ToolFailure("--map \(option): \(failure.message)")
                }
            }
            maps[String(option[..<equals])] = path
        }
        return maps
    }

    private func sources(_ opened: OpenStore, _ entity: NSEntityDescription?) throws -> [ImportSource] {
        func source(_ path: String, _ format: RecordFormat, _ entity: String?) throws -> RecordSource {
            RecordSource(
                path: path, format: format, entity: entity, element: element, delimiter: try delimiterByte(of: path),
                keepsEmpty: keepEmpty)
        }
        guard isFolder else {
            let format = format ?? RecordFormat(fileName: file) ?? .json
            return [ImportSource(records: try source(file, format, entity?.name))]
        }
        return try ImportSource.files(in: file, of: opened, format: format, only: entity) { path, format in
            // The file's name is the entity, also for a JSON or XML file with one kind of records.
            try source(path, format, nil)
        }
    }

    private func delimiterByte(of path: String) throws -> UInt8 {
        switch delimiter {
        case nil: return path.lowercased().hasSuffix(".tsv") ? UInt8(ascii: "\t") : UInt8(ascii: ",")
        case "tab", "\t": return UInt8(ascii: "\t")
        case let text?:
            guard text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\"") else {
                throw ValidationError("--delimiter takes one character, e.g. ';', or 'tab'.")
            }
            return byte
        }
    }
}
