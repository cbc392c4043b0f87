import Foundation
import TestSupport
import Testing

@Suite struct VerifyTests {
    @Test func aDamagedFileIsFound() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        try CommandRun.coredata(
            "import", store, "--entity", "Item", CommandRun.exampleData,
            "--unique", "Item.name,Unit.name,LocationAtHome.storedIn,LocationAtShop.aisle")
        #expect(try CommandRun.coredata("store", "verify", store).output == "\(store) is sound\n")
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: store))
        try handle.seek(toOffset: 40_960)
        try handle.write(contentsOf: Data(repeating: 0x5A, count: 8_192))
        try handle.close()
        let run = try CommandRun.coredata("store", "verify", store, "--model", CommandRun.exampleModel)
        #expect(run.status != 0)
        #expect((run.output + run.error).contains("error: "))
        #expect(!(run.output + run.error).contains("is sound"))
    }

    @Test func anotherModelIsAFinding() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let other = try Scratch()
        _ = try other.makeStore(entities: ImportTests.everything)
        let model = other.path("Model.xcdatamodel")
        let run = try CommandRun.coredata("store", "verify", store, "--model", model, "--json")
        #expect(run.status == 1)
        #expect(run.output.contains("\"severity\" : \"error\""))
        #expect(run.output.contains("made with another version of the model"))
        let query = try CommandRun.coredata("query", store, "Thing", "--model", model)
        #expect(query.status == 2)
        #expect(query.error.contains("(error 134100)"))
    }
}
