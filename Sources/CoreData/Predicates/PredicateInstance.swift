import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Makes predicates of whatever class they shall have.
enum PredicateInstance {
    /// Returns the predicate of a tree, in that class.
    ///
    /// An application's class gets an instance of its own, by an initialiser that it inherits from Foundation. A
    /// subclass of `NSComparisonPredicate`, which has no such initialiser, gets an instance that was made without one.
    static func make(_ node: PredicateNode, of type: NSPredicate.Type) -> NSPredicate {
        let usual = NSPredicate.make(node: node)
        if Swift.type(of: usual) == type || type == NSPredicate.self { return usual }
        switch type {
        case is NSCompoundPredicate.Type where type == NSCompoundPredicate.self:
            // A predicate that is no compound becomes a compound of one.
            return usual is NSCompoundPredicate
                ? usual : StoredCompoundPredicate(type: .and, subpredicates: [usual])
        case let type as NSCompoundPredicate.Type: return compound(node, type)
        case is NSComparisonPredicate.Type where type == NSComparisonPredicate.self:
            return StoredComparisonPredicate.make(PredicatePayload(node))
        case is NSComparisonPredicate.Type: return comparison(node, type)
        default: return block(PredicatePayload(node), type)
        }
    }

    // MARK: Foundation's initialisers

    private static func compound(_ node: PredicateNode, _ type: NSCompoundPredicate.Type) -> NSPredicate {
        PredicateMethodOverrides.see(type)
        let kind: NSCompoundPredicate.LogicalType
        let parts: [PredicateNode]
        switch node {
        case .and(let nodes): (kind, parts) = (.and, nodes)
        case .or(let nodes): (kind, parts) = (.or, nodes)
        case .not(let node): (kind, parts) = (.not, [node])
        case .constant, .comparison, .block: (kind, parts) = (.and, [node])
        }
        return type.instance(kind, of: parts.map(NSPredicate.make))
    }

    private static func block(_ payload: PredicatePayload, _ type: NSPredicate.Type) -> NSPredicate {
        PredicateMethodOverrides.see(type)
        return type.instance(of: payload)
    }

    // MARK: None

    private static func comparison(_ node: PredicateNode, _ type: NSPredicate.Type) -> NSPredicate {
        PredicateMethodOverrides.prepare(predicates: type)
        let (predicate, properties) = allocate(node, type)
        guard let property = properties.unknown else { return predicate }
        let refusal = Diagnostic(.error, StoredProperties.message(type, property))
        return allocate(.block(PredicateBlock(refusal: PredicateFailure(.unsupported, refusal))), type).0
    }

    private static func allocate(_ node: PredicateNode, _ type: NSPredicate.Type) -> (NSPredicate, StoredProperties) {
        guard let memory = FoundationPredicate.allocate(type, PredicatePayload(node)) else {
            preconditionFailure(
                "\(type): Foundation's predicates are not as they are known; use NSComparisonPredicate itself")
        }
        let properties = StoredProperties(of: type, below: NSComparisonPredicate.self, in: memory)
        // The memory was allocated for that class.
        return (Unmanaged<NSPredicate>.fromOpaque(memory).takeRetainedValue(), properties)
    }
}

// An initialiser of an application's class can only be called if the class's name is written, unless it is required,
// and Foundation's are not. A convenience initialiser calls that of whatever class it is called for, as it must for a
// subclass that inherits it. The functions beside them are the same initialisers under a name that accepts any class. A
// class that does not inherit Foundation's initialiser stops the program there, with its name.

extension NSPredicate {
    @_silgen_name("ocd_predicate_instance")
    convenience init(contentOf payload: __owned PredicatePayload) {
        self.init(block: FoundationPredicate.block(payload))
    }

    @_silgen_name("ocd_predicate_instance")
    fileprivate static func instance(of payload: __owned PredicatePayload) -> NSPredicate
}

extension NSCompoundPredicate {
    @_silgen_name("ocd_compound_instance")
    convenience init(kind: __owned LogicalType, parts: __owned [NSPredicate]) {
        self.init(type: kind, subpredicates: parts)
    }

    @_silgen_name("ocd_compound_instance")
    fileprivate static func instance(
        _ kind: __owned LogicalType, of parts: __owned [NSPredicate]
    ) -> NSCompoundPredicate
}
