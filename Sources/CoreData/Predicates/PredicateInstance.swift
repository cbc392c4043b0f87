import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Makes predicates of whatever class they shall have.
enum PredicateInstance {
    /// The predicate that a tree stands for, of that class.
    ///
    /// A class of an application's gets an instance of its own, by an initialiser that it inherits of Foundation; one below
    /// `NSComparisonPredicate`, where there is none, one that was made without.
    static func make(_ node: PredicateNode, of type: NSPredicate.Type) -> NSPredicate {
        let usual = NSPredicate.make(node: node)
        if Swift.type(of: usual) == type || type == NSPredicate.self { return usual }
        switch type {
        case is NSCompoundPredicate.Type where type == NSCompoundPredicate.self:
            // What is no compound is a compound of one.
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
        PredicateGrafts.see(type)
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
        PredicateGrafts.see(type)
        return type.instance(of: payload)
    }

    // MARK: None

    private static func comparison(_ node: PredicateNode, _ type: NSPredicate.Type) -> NSPredicate {
        PredicateGrafts.prepare(predicates: type)
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

// An initialiser of an application's class can only be called where the class's name is written, unless it is required, which
// Foundation's are not. A convenience initialiser does call the one of whatever class it is called for, as it must for a
// subclass that inherits it; the functions beside them are the same initialisers under a name that takes any class. A class
// that does not inherit Foundation's initialiser stops the program in it, with its name.

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
