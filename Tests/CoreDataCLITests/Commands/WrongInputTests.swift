import Foundation
import TestSupport
import Testing

/// What cannot be done is told in one message, and the exit code is 2.
@Suite struct WrongInputTests {
    /// `STORE` is a store of the example, `EMPTY` an empty folder, `MODEL` the example's model, `DATA` its XML.
    private static let cases: [(arguments: String, message: String)] = [
        ("stor", "There is no command 'stor'. Did you mean 'coredata store'?"),
        ("store info", "Missing expected argument '<store>'"),
        ("store info EMPTY/a.sqlite", "There is no store at EMPTY/a.sqlite. Make one with: coredata store create"),
        ("store info EMPTY", "EMPTY is a folder, not a store."),
        ("store info DATA", "is not a database"),
        ("store create EMPTY/a.sqlite", "A new store needs a model: --model"),
        ("store create STORE --model MODEL", "There is a file at STORE already"),
        ("store create EMPTY/a.sqlite --model EMPTY/a.mom", "There is no model at EMPTY/a.mom."),
        ("store create EMPTY/a.sqlite --model DATA", "DefaultData.xml"),
        ("store create EMPTY/a.sqlite --model MODEL --model-version Two", "has no version 'Two'"),
        ("store create DATA/a.sqlite --model MODEL", "The store 'DATA/a.sqlite' cannot be made"),
        ("store verify EMPTY/a.sqlite", "There is no store at"),
        ("store verify DATA", "is not a database"),
        ("query", "Missing expected argument '<store>'"),
        ("query STORE --where name=='B'", "--where goes with an entity."),
        ("query STORE --count", "--count goes with an entity."),
        ("query STORE Item/p1 --sort name", "--sort goes with an entity, not with one object."),
        ("query STORE Item/p1", "There is no Item/p1 in STORE."),
        ("query STORE Itm/p1", "The model has no entity 'Itm'; did you mean 'Item'?"),
        ("query STORE x-coredata://A/Item/p1", "x-coredata://A/Item/p1 is an object of another store"),
        ("query STORE Item --infer --model MODEL", "Choose one of --model and --infer."),
        ("query STORE Item --sort unit.items", "A store cannot sort by 'unit.items'"),
        ("query STORE Unit --select items.@cnt", "there is no @cnt; there are: @count, @sum, @avg, @min, @max."),
        ("query STORE Unit --select items.@sum", "@sum needs an attribute behind it, as in items.@sum.price."),
        ("query STORE Unit --select items.@sum.name", "'items.@sum.name': name is no number."),
        ("query STORE Unit --select items.@count.name", "'items.@count.name': nothing can follow @count."),
        ("query STORE Item --select unit.@count", "@count needs a to-many relationship before it"),
        ("query STORE Itm", "The model has no entity 'Itm'; did you mean 'Item'?"),
        ("query STORE Item --where name§BEGIN§'B'", "name BEGIN 'B'\n         ^"),
        ("query STORE Item --where nam=='B'", "did you mean 'name'?"),
        ("query STORE Item --select name,unit.nme", "Unit has no property 'nme'; did you mean 'name'?"),
        ("query STORE Item --select name.length", "'name' of Item is no relationship"),
        ("query STORE Item --sort colour", "Item has no property 'colour'; there are: collected,"),
        ("query STORE Item --where nope==1", "keypath nope not found in entity Item; it has: collected,"),
        ("query STORE Item --limit -1", "--limit takes a number from 1."),
        ("query STORE Item --offset -1", "--offset takes a number from 0."),
        ("query STORE Item --sort NOTHING", "--sort takes key paths, such as name,unit.name."),
        ("query STORE Item --select ,", "--select takes key paths, such as name,unit.name."),
        ("import STORE DATA --batch-size -1", "--batch-size takes a number from 1."),
        ("store info NOTHING", "The path of the store is empty."),
        ("query NOTHING", "The path of the store is empty."),
        ("store create NOTHING --model MODEL", "The path of the new store is empty."),
        ("store create EMPTY/a.xml --model MODEL --history", "a store of type XML, which records no history."),
        ("store copy STORE NOTHING", "The path of the new store is empty."),
        ("store copy STORE /proc/a.xml", "nothing can be written in the folder '/proc'"),
        ("store copy STORE /proc/a.sqlite", "/proc"),
        ("store recover STORE NOTHING", "The path of the new store is empty."),
        ("store recover STORE EMPTY/a.xml", "EMPTY/a.xml is the name of one of type XML: give it another name."),
        ("store create EMPTY/a.sqlite --model NOTHING", "The path of the model is empty."),
        ("store create EMPTY/a.sqlite --model DATA", "'DATA' is neither a model nor a store.\nhint: a model is an"),
        ("store create EMPTY/a.sqlite", "error: A new store needs a model: --model "),
        ("export STORE --format json --output NOTHING", "The path of the output is empty."),
        ("model decompile EMPTY/a.xcdatamodeld", "error: There is no file at EMPTY/a.xcdatamodeld."),
        ("model diff EMPTY/a.xcdatamodeld", "error: There is no file at EMPTY/a.xcdatamodeld."),
        ("model hash EMPTY/a.xcdatamodeld", "there is no file at 'EMPTY/a.xcdatamodeld'"),
        ("query STORE Item --limit 0", "--limit takes a number from 1."),
        ("query STORE Item --limit x", "The value 'x' is invalid for '--limit <limit>'"),
        ("query STORE Item --json --format csv", "Choose one of --json and --format csv."),
        ("query STORE Item --json --explain", "--explain prints text."),
        ("model add-version STORE", "STORE has no versions: add-version takes an .xcdatamodeld."),
        ("query STORE Item --count --explain", "Choose one of --count and --explain."),
        ("query STORE Item --format xml", "The value 'xml' is invalid"),
        ("query STORE Item --group name --format csv", "--group goes with --format table."),
        ("query STORE Item --model-version Model", "--model-version chooses a version"),
        ("import STORE DATA --map a=name", "--map goes with --entity."),
        ("import STORE EMPTY", "There is no file in EMPTY that is named like an entity, such as Item.csv."),
        ("export STORE --nested --format csv", "--nested goes with JSON and NDJSON."),
        ("import STORE --entity Item EMPTY/a.xml", "Cannot read EMPTY/a.xml: no such file"),
        ("import STORE --entity Item EMPTY/data", "does not tell its format; give --format."),
        ("import STORE --entity Item DATA --unique name", "--unique takes Entity.attribute"),
        ("import STORE --entity Item DATA --unique Itm.name", "no entity 'Itm'; did you mean 'Item'?"),
        ("import STORE --entity Item DATA --unique Item.nam", "Item has no attribute 'nam'; did you mean"),
        ("import STORE --entity Item DATA --unique Item.thumbnail", "cannot be found by an attribute of its type"),
        ("import STORE --entity Item DATA --map unit", "--map takes field=key.path"),
        (
            "import STORE --entity Item DATA --map unit=unit.nme",
            "--map unit=unit.nme: 'unit.nme': Unit has no property"
        ),
        (
            "import STORE --entity Item DATA",
            "DATA:3: record 1: 'unit' is a relationship to Unit, and not one attribute"
        ),
        ("import STORE --entity Item DATA", "give it with --unique Unit.name"),
        (
            "import STORE --entity Item DATA --format csv",
            "DATA:2: record 1: no property of Item has the name of a field: '<?xml"
        ),
        ("import STORE --entity Item DATA --format json", "DATA:1: an array of objects should be here"),
        ("import STORE --entity Item DATA --delimiter ab", "--delimiter takes one character"),
        ("export STORE --format csv", "csv takes one entity; choose with --entity: Item, Item_Photo,"),
        ("export STORE --entity Itm", "did you mean 'Item'?"),
        ("export STORE --entity Item --output EMPTY/a.txt", "does not tell a format; give --format."),
        ("export STORE --entity Item --output EMPTY/no/a.csv", "Cannot write EMPTY/no/a.csv"),
        ("export EMPTY/a.sqlite", "There is no store at"),
    ]

    @Test(arguments: Trials.some(of: cases))
    func wrongInputIsExplained(arguments: String, message: String) throws {
        let scratch = try Scratch()
        let store = try scratch.copyOfEmptyStore()
        let empty = scratch.folder.appendingPathComponent("empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        func filled(_ text: String) -> String {
            text.replacing("STORE", with: store).replacing("EMPTY", with: empty.path)
                .replacing("MODEL", with: CommandRun.exampleModel).replacing("DATA", with: CommandRun.exampleData)
                .replacing("§", with: " ").replacing("NOTHING", with: "")
        }
        let run = try CommandRun.run(
            CommandRun.executable(), arguments.split(separator: " ").map { filled(String($0)) })
        #expect(run.status == 2)
        #expect(run.error.contains(filled(message)), "\(run.error)\(run.output)")
        #expect(run.output == "")
        #expect(!run.error.contains("Fatal error"))
        #expect(!run.error.contains("error: error:") && !run.error.contains("Error:"))
        // Nothing is left of what could not be made.
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path).isEmpty)
    }

    @Test func theVersionIsPrintedAndLeavesThatOfModelsAlone() throws {
        let run = try CommandRun.coredata("--version")
        #expect(run.status == 0 && run.error == "")
        #expect(run.output.wholeMatch(of: #/coredata \d+\.\d+\.\d+\S* \(.*\)\n/#) != nil, "\(run.output)")
        let hash = try CommandRun.coredata("model", "hash", CommandRun.exampleModel, "--version", "Model")
        #expect(hash.status == 0 && hash.output.contains("Item_Photo"))
    }

    @Test(arguments: ["", "store", "store info", "store create", "store verify", "query", "import", "export"])
    func helpHasExamples(command: String) throws {
        let run = try CommandRun.run(
            CommandRun.executable(), command.split(separator: " ").map(String.init) + ["--help"])
        #expect(run.status == 0)
        #expect(run.output.contains("USAGE: coredata \(command)"))
        if command != "store" { #expect(run.output.contains("EXAMPLES\n")) }
    }
}
