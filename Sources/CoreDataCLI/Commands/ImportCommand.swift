import ArgumentParser
import CoreData
import Foundation

/// `coredata import`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes objects of the records of a file, or finds and changes them.",
        discussion: """
            Reads XML (the children of the root element; their attributes are the fields), JSON (an array of objects), \
            NDJSON (one object a line) and CSV (the first row names the fields).

            A field is for the property of its name, in any case; a name with dots, and --map, leads to a property of \
            a related object. --unique says what tells an entity's objects apart: with it an object that exists is \
            found and changed instead of made again, related objects too. Without --unique the uniqueness constraints \
            of the model count.

            Text is kept exactly as it is. An empty field of XML or CSV is no value, unless the attribute is a text \
            that must have one; for a related object it is no object. --keep-empty keeps empty texts. Fields that are \
            not in a record are left as they are.

            Records are saved in batches; a batch is saved whole or not at all. The first invalid record stops the \
            import, and nothing of its batch is saved, unless --skip-invalid leaves it out.

            EXAMPLES
              coredata import Shop.sqlite --entity Item --unique Item.name --unique Unit.name items.json
              coredata import Shop.sqlite --model Shop.xcdatamodeld --entity Item --unique Item.name,Unit.name \\
                --unique LocationAtHome.storedIn --map unit=unit.name --map home=locationAtHome.storedIn items.xml
              coredata export Old.sqlite --entity Item --format ndjson | \\
                coredata import New.sqlite --entity Item --unique Unit.name --format ndjson -
            """)

    @Argument(help: "The store's file.")
    var store: String

    @Argument(help: "The file to read; '-' for standard input.")
    var file: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(help: "The entity that the records are of.")
    var entity: String

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

    @Option(help: "How many records to save at once.")
    var batchSize = 500

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        if batchSize < 1 { throw ValidationError("--batch-size takes a number from 1.") }
        if format == nil, RecordFormat(fileName: file) == nil {
            throw ValidationError("The name of '\(file)' does not tell its format; give --format.")
        }
        _ = try delimiterByte()
    }

    func run() throws {
        let opened = try OpenStore(changing: store, model: modelOptions)
        let plan = try ImportPlan(
            entity: opened.entity(named: entity), uniques: unique.flatMap { $0.split(separator: ",").map(String.init) },
            maps: map, in: opened.model)
        let format = format ?? RecordFormat(fileName: file) ?? .json
        let source = RecordSource(
            path: file, format: format, entity: entity, element: element, delimiter: try delimiterByte(),
            keepsEmpty: keepEmpty)
        var run = ImportRun(
            reader: try source.makeReader(), fileName: source.name,
            drafts: DraftBuilder(plan: plan, emptyIsNil: !format.hasTypes && !keepEmpty),
            importer: Importer(opened.makeContext(), plan: plan), batchSize: batchSize, skipsInvalid: skipInvalid)
        try run.run()
        run.noteUnusedFields()
        print(json ? run.summary.json : run.summary.text, terminator: "")
        if run.summary.skipped > 0 { throw ExitCode(1) }
    }

    private func delimiterByte() throws -> UInt8 {
        switch delimiter {
        case nil: return file.lowercased().hasSuffix(".tsv") ? UInt8(ascii: "\t") : UInt8(ascii: ",")
        case "tab", "\t": return UInt8(ascii: "\t")
        case let text?:
            guard text.utf8.count == 1, let byte = text.utf8.first, byte != UInt8(ascii: "\"") else {
                throw ValidationError("--delimiter takes one character, e.g. ';', or 'tab'.")
            }
            return byte
        }
    }
}
