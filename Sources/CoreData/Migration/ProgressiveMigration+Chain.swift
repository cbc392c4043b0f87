import CoreDataModel
import Foundation

extension ProgressiveMigration {
    /// Versions over which a store comes from one to another.
    struct Chain {
        /// A version of the model.
        struct Version {
            var name: String
            let document: ModelDocument
            let compiled: CompiledModel
            let hashes: [String: Data]
            let abstract: Set<String>

            /// `nil` for a version that does not compile.
            init?(name: String, document: ModelDocument) {
                guard let compiled = try? ModelCompiler.compile(document) else { return nil }
                self.name = name
                self.document = document
                self.compiled = compiled
                hashes = Dictionary(
                    compiled.entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first })
                abstract = Set(compiled.entities.filter(\.isAbstract).map(\.name))
            }

            func makeModel() throws -> NSManagedObjectModel { try NSManagedObjectModel(document: document) }
        }

        struct Step {
            var from: Version
            var to: Version
            var mapping: (name: String, model: NSMappingModel)?
            var inferred: ModelMapping?
        }

        var source: String
        var target: String
        /// Empty if there is no chain.
        var steps: [Step] = []
        var versionCount = 0
        /// Why nothing does.
        var obstacle = ""

        init(source: String, target: String) {
            self.source = source
            self.target = target
        }

        /// The older version, those between it and the newer one by their names, and the newer one.
        static func between(_ old: Version, _ new: Version, _ versions: [Version]) -> [Version] {
            let start = versions.firstIndex { $0.hashes == old.hashes }
            let end = versions.lastIndex { $0.hashes == new.hashes }
            var (first, last) = (old, new)
            if let start { first.name = versions[start].name }
            if let end { last.name = versions[end].name }
            let (low, high) = (start.map { $0 + 1 } ?? 0, end ?? versions.count)
            guard low < high else { return [first, last] }
            return [first] + versions[low..<high].filter { $0.hashes != old.hashes && $0.hashes != new.hashes } + [last]
        }

        /// How good a chain is; the smaller the better.
        private struct Cost: Comparable {
            /// Steps that leave out one that there is a mapping model for.
            var omissions = 0
            /// Entities and properties that were to have the values of something that the step does not find.
            var losses = 0
            var steps = 0
            var inferences = 0

            static func < (a: Cost, b: Cost) -> Bool {
                (a.omissions, a.losses, a.steps, a.inferences) < (b.omissions, b.losses, b.steps, b.inferences)
            }
        }

        /// Returns the best chain from the first version to the last; each version precedes the ones that it refers to.
        static func shortest(
            among versions: [Version], infers: Bool, configuration: String?,
            _ mappings: [(name: String, model: NSMappingModel)]
        ) -> Chain {
            var chain = Chain(source: versions[0].name, target: versions[versions.count - 1].name)
            chain.versionCount = versions.count
            var explicit: [Int: [Int: (name: String, model: NSMappingModel)]] = [:]
            for from in versions.indices {
                for to in versions.indices where from < to {
                    let found = mappings.first { leads($0.model, from: versions[from], to: versions[to]) }
                    if let found { explicit[from, default: [:]][to] = found }
                }
            }
            func omits(_ from: Int, _ to: Int) -> Bool {
                explicit.contains { start, ends in start >= from && ends.keys.contains { $0 <= to } }
            }
            var best: [(cost: Cost, step: Step?, previous: Int)?] = [(Cost(), nil, -1)]
            var obstacles: [String] = []
            for to in 1..<versions.count {
                var candidates = (0..<to).compactMap { from -> (cost: Cost, from: Int)? in
                    guard var cost = best[from]?.cost else { return nil }
                    cost.steps += 1
                    if explicit[from]?[to] == nil {
                        cost.inferences += 1
                        if omits(from, to) { cost.omissions += 1 }
                    }
                    return (cost, from)
                }
                candidates.sort { $0.cost < $1.cost }
                best.append(nil)
                // The losses of a step are known after its mapping was inferred; they never improve a candidate.
                for (least, from) in candidates {
                    if let found = best[to], found.cost <= least { break }
                    var cost = least
                    var step = Step(from: versions[from], to: versions[to], mapping: explicit[from]?[to])
                    if step.mapping == nil {
                        guard infers else { continue }
                        do {
                            let inferred = try inference(versions[from], versions[to], configuration)
                            cost.losses += inferred.strayIdentifiers.count { $0.isWithoutSource }
                            step.inferred = inferred
                        } catch {
                            if to == versions.count - 1 {
                                obstacles.append("'\(versions[from].name)': \(error.message)")
                            }
                            continue
                        }
                    }
                    if let found = best[to], found.cost <= cost { continue }
                    best[to] = (cost, step, from)
                }
            }
            var place = versions.count - 1
            while let found = best[place], let step = found.step {
                chain.steps.insert(step, at: 0)
                place = found.previous
            }
            if chain.steps.isEmpty {
                chain.obstacle =
                    infers
                    ? "No mapping can be inferred from " + obstacles.joined(separator: "; from ") + "."
                    : "None may be inferred; \(NSInferMappingModelAutomaticallyOption) allows it."
            }
            return chain
        }

        static func leads(_ mapping: NSMappingModel, from old: Version, to new: Version) -> Bool {
            mapping.fits(old.hashes, new.hashes, abstract: (old.abstract, new.abstract))
        }

        private static func inference(
            _ old: Version, _ new: Version, _ configuration: String?
        ) throws(ModelMapping.InferenceFailure) -> ModelMapping {
            let stored = new.compiled.entities(inConfiguration: configuration).map { Set($0.map(\.ordinal)) }
            return try ModelMapping.inferred(
                from: .init(old.compiled, document: old.document), to: .init(new.compiled, document: new.document),
                where: { stored?.contains($0) ?? true })
        }
    }
}
