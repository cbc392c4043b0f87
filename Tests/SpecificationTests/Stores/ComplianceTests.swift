import Foundation
import Testing

/// No store leaves out a case silently.
@Suite struct ComplianceTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    /// The specification's tests with what each is tried on, as they are written.
    private static func tests() throws -> [(name: String, attribute: String)] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var tests: [(String, String)] = []
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent.hasSuffix("Specification.swift") else { continue }
            let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "@Test").dropFirst()
            for part in parts {
                guard let function = part.range(of: "    func ") else { continue }
                tests.append(
                    (String(part[function.upperBound...].prefix { $0 != "(" }), String(part[..<function.lowerBound])))
            }
        }
        return tests
    }

    @Test func everyCaseIsTriedOnEveryStore() throws {
        let tests = try Self.tests()
        #expect(tests.count > 80)
        for test in tests where !test.attribute.contains("SpecifiedStore.all") {
            // A list of stores and seeds, which has them all; or stores that are like one of them but for what they lack.
            let isTried = ["trials", "sqliteLackingOne"].contains { test.attribute.contains($0) }
            #expect(isTried, "\(test.name) is not tried on every store")
        }
        #expect(Set(PredicateSpecification.trials.map(\.store.name)) == Set(SpecifiedStore.all.map(\.name)))
        #expect(Set(tests.map(\.name)).count == tests.count, "two tests have one name")
    }

    @Test func everyExceptionIsATestsName() throws {
        let names = Set(try Self.tests().map(\.name))
        for store in SpecifiedStore.all {
            for (name, reason) in store.exceptions {
                #expect(names.contains(name), "\(store.name) lists \(name), which is no test")
                #expect(!reason.isEmpty)
            }
            let unlisted = store.passesInPart.subtracting(store.exceptions.keys)
            #expect(unlisted.isEmpty, "\(store.name) passes in part what it is not listed to fail")
        }
    }

    @Test func everyStoreHasAFileAndIsListed() throws {
        let stores = Self.folder.appendingPathComponent("Stores")
        let files = try FileManager.default.contentsOfDirectory(atPath: stores.path)
            .filter { $0.hasSuffix("Store.swift") && $0 != "SpecifiedStore.swift" }
        #expect(files.count == SpecifiedStore.all.count)
        #expect(Set(SpecifiedStore.all.map(\.name)).count == SpecifiedStore.all.count)
    }
}
