import CObjectRuntime
import Foundation
import Synchronization

/// The managed object classes of the program, by name.
///
/// A model names a class with or without its module. A name with a module is looked up directly. For a name without
/// one, the classes that the program has used come first, then the classes of modules from which it has used a class.
/// Then every class of that name in the program and its libraries counts, so a program need not mention any class.
final class ManagedObjectClasses: Sendable {
    static let shared = ManagedObjectClasses()

    private struct State {
        var classes: [String: NSManagedObject.Type] = [:]
        var modules: [String] = []
        var warned: Set<String> = []
        var learnt: Set<ObjectIdentifier> = []
        /// The models in use, as weak references: an unused model claims no class.
        var models: [WeakModel] = []
    }

    private struct WeakModel {
        weak var runtime: ModelRuntime?
    }

    /// Guards the classes that were found.
    private let state = Mutex(State())
    private let counter = Atomic<UInt64>(1)

    /// Increases with every class and module that is found: a lookup that failed may succeed then.
    var knowledge: UInt64 { counter.load(ordering: .acquiring) }

    private let warn: @Sendable (String) -> Void

    init(warn: @escaping @Sendable (String) -> Void = { CoreDataLog.general.warning("\($0)") }) {
        self.warn = warn
        let executable = URL(fileURLWithPath: CommandLine.arguments.first ?? "").lastPathComponent
        let module = String(executable.map { $0.isLetter || $0.isNumber ? $0 : "_" })
        state.withLock { $0.modules = [module] }
    }

    /// `["Module.Outer.Item", "Item"]`: the names by which a model may call the class.
    static func names(of type: NSManagedObject.Type) -> Set<String> {
        let full = fullName(of: type)
        return [full, full.split(separator: ".").last.map(String.init) ?? full]
    }

    /// Returns the name with its module, without the marks of private contexts and generic arguments.
    static func fullName(of type: NSManagedObject.Type) -> String {
        String(reflecting: type).prefix { $0 != "<" }.split(separator: ".").filter { !$0.hasPrefix("(") }
            .joined(separator: ".")
    }

    // MARK: Learning

    /// Takes note of a class that the program mentions.
    func learn(_ type: NSManagedObject.Type) {
        guard state.withLock({ $0.learnt.insert(ObjectIdentifier(type)).inserted }) else { return }
        guard let module = Self.fullName(of: type).split(separator: ".").first.map(String.init) else { return }
        state.withLock { state in
            for name in Self.names(of: type) { state.classes[name] = type }
            if !state.modules.contains(module) { state.modules.append(module) }
        }
        counter.wrappingAdd(1, ordering: .releasing)
    }

    /// Takes note of a module that may have classes which a model names without one.
    func note(module: String) {
        let isNew = state.withLock { state in
            if state.modules.contains(module) { return false }
            state.modules.append(module)
            return true
        }
        if isNew { counter.wrappingAdd(1, ordering: .releasing) }
    }

    /// Takes note of a model in use.
    func note(_ model: ModelRuntime) {
        state.withLock { state in
            state.models.removeAll { $0.runtime == nil }
            state.models.append(WeakModel(runtime: model))
        }
    }

    // MARK: Finding

    /// The class that an entity's model names; without one a warning is logged, once a name.
    func find(named name: String, entity: String) -> NSManagedObject.Type? {
        let wanted = name.hasPrefix(".") ? String(name.dropFirst()) : name
        let (known, modules) = state.withLock { ($0.classes[wanted], $0.modules) }
        if let known { return known }
        // NSClassFromString knows `Module.Class` and complains of longer names.
        let parts = wanted.split(separator: ".").map(String.init)
        if parts.count == 2, let type = NSClassFromString(wanted) as? NSManagedObject.Type { return type }
        if parts.count == 1 {
            for module in modules {
                if let type = NSClassFromString("\(module).\(wanted)") as? NSManagedObject.Type { return type }
            }
        }
        return choose(among: Self.classes(named: parts.last ?? wanted), for: wanted, entity: entity, modules)
    }

    /// Returns the class of that name. If there are several, prefers the wanted full name, then the module that was
    /// found first.
    private func choose(
        among found: [FoundClass], for wanted: String, entity: String, _ modules: [String]
    ) -> NSManagedObject.Type? {
        if found.isEmpty {
            warnOnce(
                wanted,
                """
                No class named '\(wanted)' for entity '\(entity)' is in the program; its objects are plain NSManagedObject.
                """)
            return nil
        }
        let ranked = found.sorted { ($0.rank(wanted, modules), $0.name) < ($1.rank(wanted, modules), $1.name) }
        let isBare = !wanted.contains(".")
        if ranked.count > 1, ranked[0].rank(wanted, modules) == ranked[1].rank(wanted, modules) {
            warnOnce(
                wanted,
                """
                Several classes are named '\(wanted)', for entity '\(entity)': \(ranked.map(\.name).joined(separator: ", ")). \
                \(ranked[0].name) is taken; name it with its module in the model.
                """)
        } else if !isBare, ranked[0].name != wanted {
            warnOnce(
                wanted,
                "No class is named '\(wanted)', for entity '\(entity)'; \(ranked[0].name) is taken, the one with its name."
            )
        }
        return ranked[0].type
    }

    private struct FoundClass {
        let type: NSManagedObject.Type
        let name: String
        let module: String

        /// The less the better: the very class, one that is in no other type, one of a module that was met early.
        func rank(_ wanted: String, _ modules: [String]) -> Int {
            if name == wanted { return 0 }
            let isNested = name.split(separator: ".").count != 2
            return 1 + (isNested ? modules.count + 1 : 0) + (modules.firstIndex(of: module) ?? modules.count)
        }
    }

    /// Collects the classes found in the lists of the runtime.
    private final class FoundTypes {
        var types: [(type: AnyClass, module: String)] = []
    }

    /// The managed object classes of that name, whatever their modules.
    private static func classes(named name: String) -> [FoundClass] {
        let found = FoundTypes()
        ocd_for_each_class_named(
            name,
            { metadata, module, context in
                guard let context else { return }
                Unmanaged<FoundTypes>.fromOpaque(context).takeUnretainedValue().types.append(
                    (unsafeBitCast(metadata, to: AnyClass.self), String(cString: module)))
            }, Unmanaged.passUnretained(found).toOpaque())
        return found.types.compactMap { type, module in
            (type as? NSManagedObject.Type).map { FoundClass(type: $0, name: fullName(of: $0), module: module) }
        }
    }

    /// Returns the entities that name the class. Of several equal models, the one that was used last counts.
    func entities(ofClass type: NSManagedObject.Type) -> [EntityRuntime] {
        let models = state.withLock { $0.models.compactMap(\.runtime) }
        var found: [String: EntityRuntime] = [:]
        for runtime in models.flatMap({ $0.entities(ofClass: type) }) { found[runtime.name] = runtime }
        return Array(found.values)
    }

    /// Returns the names of the entities whose classes pass the test.
    func entityNames(where passes: (Any.Type) -> Bool) -> [String] {
        let models = state.withLock { $0.models.compactMap(\.runtime) }
        return Array(Set(models.flatMap(\.entities).filter { passes($0.objectClass) }.map(\.name)))
    }

    private func warnOnce(_ className: String, _ message: String) {
        if state.withLock({ $0.warned.insert(className).inserted }) { warn(message) }
    }
}
