import CoreData
import CoreDataModel
import CoreDataToolkit
import Foundation

/// The model for opening a store.
package struct StoreModel {
    package var document: ModelDocument
    /// The configuration whose entities the store has; `nil` for all entities of the model.
    package var configuration: String?
    /// Whether it was inferred from the store's tables, so that its version hashes differ from the store's.
    package var isInferred = false
    /// Facts about the choice of the model that a user should read.
    package var notes: [String] = []

    package init(
        document: ModelDocument, configuration: String? = nil, isInferred: Bool = false, notes: [String] = []
    ) {
        self.document = document
        self.configuration = configuration
        self.isInferred = isInferred
        self.notes = notes
    }

    /// Makes the model for a program without its classes: objects are plain managed objects, and transformable values
    /// are their stored bytes.
    package func makeModel() throws -> NSManagedObjectModel {
        var document = document
        for index in document.entities.indices {
            document.entities[index].className = nil
            for property in document.entities[index].properties.indices {
                guard case .attribute(var attribute) = document.entities[index].properties[property].kind,
                    attribute.type == .transformable
                else { continue }
                attribute.valueTransformerName = StoredBytes.name.rawValue
                document.entities[index].properties[property].kind = .attribute(attribute)
            }
        }
        StoredBytes.register()
        return try NSManagedObjectModel(document: document)
    }
}

/// A transformer that returns the stored bytes unchanged.
private final class StoredBytes: ValueTransformer {
    static let name = NSValueTransformerName("OpenCoreDataStoredBytes")

    static func register() { setValueTransformer(StoredBytes(), forName: name) }

    override class func transformedValueClass() -> AnyClass { NSData.self }

    override func transformedValue(_ value: Any?) -> Any? { value as? Data }

    override func reverseTransformedValue(_ value: Any?) -> Any? { value as? Data }
}

// MARK: - Selection

extension StoreModel {
    /// Returns the version of a model that the store was made with, found by version hashes.
    ///
    /// A model with a single version is returned even if it does not fit: opening the store then reports the
    /// differences.
    package static func fitting(_ store: String, among versions: ModelVersions, at path: String) throws -> StoreModel {
        guard let current = versions.current else {
            throw ToolkitError("\(StoreFile.shown(path)) has no version '\(versions.currentName)'.")
        }
        guard let hashes = try StoreFile.versionHashes(store) else { return StoreModel(document: current) }
        guard versions.versions.count > 1 else { return StoreModel(document: current).configured(for: hashes) }
        // Try the current version first, since it is the most likely, then the newest ones.
        let others = versions.versions.filter { $0.name != versions.currentName }.reversed()
        let candidates = [.init(name: versions.currentName, document: current)] + others
        var nearest: (name: String, difference: HashDifference)?
        for candidate in candidates {
            // A version that does not compile fits no store.
            guard let compiled = try? ModelCompiler.compile(candidate.document) else { continue }
            if let configuration = compiled.configuration(with: hashes) {
                return StoreModel(
                    document: candidate.document, configuration: configuration.name,
                    notes: ["version '\(candidate.name)' of \(StoreFile.shown(path)) fits the store"])
            }
            let difference = HashDifference(compiled.versionHashes, hashes)
            if nearest.map({ difference.count < $0.difference.count }) ?? true {
                nearest = (candidate.name, difference)
            }
        }
        throw ToolkitError(
            "No version of \(StoreFile.shown(path)) has the version hashes of \(StoreFile.shown(store))."
                + (nearest.map { " Nearest is '\($0.name)': \($0.difference.text)." } ?? ""))
    }

    /// Returns the model with the configuration that has these hashes, if there is one.
    package func configured(for hashes: [String: Data]) -> StoreModel {
        var copy = self
        copy.configuration = (try? ModelCompiler.compile(document))?.configuration(with: hashes)?.name
        return copy
    }
}

/// A configuration of a model; without a name, all of its entities.
private struct FoundConfiguration {
    var name: String?
}

extension CompiledModel {
    fileprivate var versionHashes: [String: Data] { Self.hashes(of: entities) }

    fileprivate func configuration(with hashes: [String: Data]) -> FoundConfiguration? {
        if Self.have(entities, hashes) { return FoundConfiguration() }
        return configurations.keys.sorted().first { name in
            entities(inConfiguration: name).map { Self.have($0, hashes) } ?? false
        }.map(FoundConfiguration.init)
    }

    private static func have(_ entities: [CompiledEntity], _ hashes: [String: Data]) -> Bool {
        entities.count == hashes.count && entities.allSatisfy { hashes[$0.name].map($0.hasVersionHash) ?? false }
    }

    private static func hashes(of entities: [CompiledEntity]) -> [String: Data] {
        Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
    }
}

/// The differences between the hashes of a model and those of a store.
private struct HashDifference {
    private var added: [String]
    private var removed: [String]
    private var changed: [String]

    init(_ model: [String: Data], _ store: [String: Data]) {
        added = model.keys.filter { store[$0] == nil }.sorted()
        removed = store.keys.filter { model[$0] == nil }.sorted()
        changed = model.keys.filter { store[$0] != nil && store[$0] != model[$0] }.sorted()
    }

    var count: Int { added.count + removed.count + changed.count }

    var text: String {
        [("changed", changed), ("only in the model", added), ("only in the store", removed)]
            .filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; ")
    }
}
