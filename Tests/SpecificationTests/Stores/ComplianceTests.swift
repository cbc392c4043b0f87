import Foundation
import TestSupport
import Testing

/// No store leaves out a case silently.
@Suite struct ComplianceTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    private static func sources() throws -> [(file: String, text: String)] {
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        var sources: [(String, String)] = []
        while let file = files?.nextObject() as? URL {
            guard file.lastPathComponent.hasSuffix("Specification.swift") else { continue }
            sources.append((file.lastPathComponent, try String(contentsOf: file, encoding: .utf8)))
        }
        return sources
    }

    /// The specification's tests with what each is tried on, as they are written.
    private static func tests() throws -> [(name: String, attribute: String, suite: String)] {
        var tests: [(String, String, String)] = []
        for (file, text) in try sources() {
            for part in text.components(separatedBy: "@Test").dropFirst() {
                guard let function = part.range(of: "    func ") else { continue }
                tests.append(
                    (
                        String(part[function.upperBound...].prefix { $0 != "(" }),
                        String(part[..<function.lowerBound]), String(file.dropLast(".swift".count))
                    ))
            }
        }
        return tests
    }

    /// Lists of stores and something else that are made elsewhere, with the capabilities of the stores that they must have.
    private static let lists: [String: (needed: [Capability], stores: [SpecifiedStore])] = [
        "PredicateSpecification trials": ([.rows], PredicateSpecification.trials.map(\.store)),
        "FetchedResultsSpecification trials": ([], FetchedResultsSpecification.trials.map(\.store)),
        "MergePolicySpecification storyTrials": ([], MergePolicySpecification.storyTrials.map(\.store)),
        "ConstraintPolicySpecification trials(withoutUniqueValues: theirs)":
            ([], ConstraintPolicySpecification.trials(withoutUniqueValues: [.rollback]).map(\.store)),
        "ConstraintPolicySpecification trials(withoutUniqueValues: [.mergeByPropertyStoreTrump])":
            ([], ConstraintPolicySpecification.trials(withoutUniqueValues: [.rollback]).map(\.store)),
    ]

    /// Those of the lists of which the short form tries a part, another one every day.
    private static let rotated: Set = ["PredicateSpecification trials", "FetchedResultsSpecification trials"]

    /// The capabilities that a test's stores must have, by what stands at its head; `nil` where it is tried on other stores.
    private static func needed(_ attribute: String, suite: String) -> [Capability]? {
        // All stores, and nothing that leaves some of them out.
        if attribute.firstMatch(of: /SpecifiedStore\.all\s*[,)]/) != nil { return [] }
        if let match = attribute.firstMatch(of: /SpecifiedStore\.having\(([^)]*)\)\s*[,)]/) {
            let names = match.output.1.split(separator: ",").map { $0.drop { " .".contains($0) } }
            let capabilities = names.compactMap { Capability(rawValue: String($0)) }
            return capabilities.count == names.count && !names.isEmpty ? capabilities : nil
        }
        // Stores that are like one that is listed, but for what they lack.
        if attribute.contains("SpecifiedStore.sqliteLackingOne") { return [.rows] }
        return lists.first { list in
            let words = list.key.split(separator: " ", maxSplits: 1)
            return words[0] == suite && attribute.contains("arguments: \(words[1]))")
        }?.value.needed
    }

    @Test func everyCaseIsTriedOnEveryStoreThatHasWhatItNeeds() throws {
        let tests = try Self.tests()
        #expect(tests.count > 80)
        var needed: Set<Capability> = []
        for test in tests {
            let capabilities = Self.needed(test.attribute, suite: test.suite)
            #expect(capabilities != nil, "\(test.name) is not tried on every store")
            needed.formUnion(capabilities ?? [])
        }
        #expect(needed.isSuperset(of: [.rows, .reopening, .uniqueValues, .derivedAttributes, .groupsAndExpressions]))
        for (name, list) in Self.lists {
            let expected = Set(SpecifiedStore.all.filter { store in list.needed.allSatisfy(store.has) }.map(\.name))
            let stores = Set(list.stores.map(\.name))
            if Self.rotated.contains(name), !Trials.isLong {
                #expect(!stores.isEmpty && stores.isSubset(of: expected), "\(name)")
            } else {
                #expect(stores == expected, "\(name)")
            }
        }
        #expect(Set(tests.map(\.name)).count == tests.count, "two tests have one name")
    }

    /// A test that returns where it meets a store that it is not for would pass.
    @Test func noCaseIsLeftOutSilently() throws {
        var count = 0
        for (file, text) in try Self.sources() {
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                count += 1
                let leaves = line.contains("return") && line.contains("guard") && line.contains("store.")
                #expect(!leaves, "\(file):\(index + 1) leaves out a store: name the capability")
                #expect(!line.contains("withKnownIssue"), "\(file):\(index + 1): name the capability")
            }
        }
        #expect(count > 3000)
    }

    @Test func everyLackHasAReason() {
        for store in SpecifiedStore.every {
            for (capability, reason) in store.lacks {
                #expect(!reason.isEmpty, "\(store.name) does not say why it lacks \(capability)")
            }
        }
        for capability in Capability.allCases {
            #expect(SpecifiedStore.every.contains { $0.has(capability) }, "no store has \(capability)")
            #expect(SpecifiedStore.every.contains { !$0.has(capability) }, "every store has \(capability)")
        }
    }

    @Test func everyStoreHasAFileAndIsListed() throws {
        let stores = Self.folder.appendingPathComponent("Stores")
        let files = try FileManager.default.contentsOfDirectory(atPath: stores.path)
            .filter { $0.hasSuffix("Store.swift") && $0 != "SpecifiedStore.swift" }
        #expect(files.count == SpecifiedStore.every.count)
        #expect(Set(SpecifiedStore.every.map(\.name)).count == SpecifiedStore.every.count)
    }
}
