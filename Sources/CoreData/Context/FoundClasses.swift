/// The classes of objects, each once. They are collected while each object is processed anyway: a second pass over all
/// objects would load them into the processor's cache again.
struct FoundClasses {
    private(set) var classes: [AnyClass] = []
    private var last: AnyClass?

    init() {}

    init(of objects: [AnyObject]) {
        objects.forEachHeld { note($0) }
    }

    @inline(__always)
    mutating func note(_ object: AnyObject) {
        let type: AnyClass = type(of: object)
        if type != last { note(type) }
    }

    private mutating func note(_ type: AnyClass) {
        last = type
        if !classes.contains(where: { $0 == type }) { classes.append(type) }
    }
}
