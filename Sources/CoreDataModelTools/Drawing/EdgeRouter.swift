import CoreDataModel

/// Routes edges along the grid, around boxes and next to each other.
///
/// A shortest-path search over the points of the grid. A corner, a crossing, and above all a stretch that another edge
/// uses, cost more than distance. Every edge leaves a box in a straight line that is long enough for its arrowhead.
struct EdgeRouter {
    typealias Point = DiagramScene.Point
    typealias Frame = DiagramScene.Frame

    /// A point where an edge may leave a box: the tip at the box, and the first point on the grid.
    private struct Exit {
        var tip: Point
        var cell: Int
        var isVertical: Bool
    }

    private static let step = DiagramMetrics.step
    /// The margin around the boxes for edges.
    private static let border = 8

    private let diagram: ModelDiagram
    private let frames: [Frame]
    private let left: Int
    private let top: Int
    private let columns: Int
    private let rows: Int
    private var isBlocked: [Bool]
    /// The group of the edges through a point, by direction: 0 for none, -1 for several.
    private var horizontal: [Int32]
    private var vertical: [Int32]
    private var search: GridSearch

    init(diagram: ModelDiagram, frames: [Frame]) {
        self.diagram = diagram
        self.frames = frames
        let step = Self.step
        left = DiagramLayout.snapped(frames.map(\.x).min() ?? 0) - Self.border * step
        top = DiagramLayout.snapped(frames.map(\.y).min() ?? 0) - Self.border * step
        columns = ((frames.map(\.maxX).max() ?? 0) - left) / step + Self.border + 1
        rows = ((frames.map(\.maxY).max() ?? 0) - top) / step + Self.border + 1
        isBlocked = Array(repeating: false, count: columns * rows)
        horizontal = Array(repeating: 0, count: columns * rows)
        vertical = horizontal
        search = GridSearch(count: columns * rows * 2)
        for frame in frames {
            for row in (frame.y - step / 2 - top) / step...(frame.maxY + step / 2 - top) / step {
                for column in (frame.x - step - left) / step...(frame.maxX + step - left) / step {
                    isBlocked[row * columns + column] = true
                }
            }
        }
    }

    /// Returns the corners of every edge, in the diagram's order.
    mutating func routes() -> [[Point]] {
        let exits = diagram.edges.map { edge in
            let isInheritance = edge.kind == .inheritance
            return (self.exits(edge.from, isInheritance), self.exits(edge.to, isInheritance))
        }
        // Route hierarchies first, then short edges, which have the fewest alternatives.
        let order = diagram.edges.indices.sorted { a, b in
            let (x, y) = (diagram.edges[a], diagram.edges[b])
            if x.kind != y.kind { return x.kind == .inheritance }
            return (distance(x), a) < (distance(y), b)
        }
        var paths = [[Point]](repeating: [], count: diagram.edges.count)
        // Route again with all other edges known, since the first ones were routed without them.
        for pass in 0..<2 {
            for index in order {
                if pass > 0 { mark(paths, except: index) }
                paths[index] = route(exits[index].0, exits[index].1, group: group(index))
                if pass == 0 { mark(paths[index], group(index)) }
            }
        }
        return paths
    }

    /// Returns the group of an edge: edges to the same parent may overlap; each other edge is a group of its own.
    private func group(_ index: Int) -> Int32 {
        let edge = diagram.edges[index]
        return Int32(edge.kind == .inheritance ? edge.to.box + 1 : diagram.boxes.count + index + 1)
    }

    private func distance(_ edge: ModelDiagram.Edge) -> Int {
        let (a, b) = (frames[edge.from.box], frames[edge.to.box])
        return abs(a.x + a.width / 2 - b.x - b.width / 2) + abs(a.y + a.height / 2 - b.y - b.height / 2)
    }

    // MARK: Exits

    private func exits(_ port: ModelDiagram.Port, _ isInheritance: Bool) -> [Exit] {
        let frame = frames[port.box]
        let y = frame.y + DiagramMetrics.portOffset(port.row, in: diagram.boxes[port.box])
        let step = Self.step
        var exits = [
            Exit(tip: Point(x: frame.x, y: y), cell: cell(frame.x - 2 * step, y), isVertical: false),
            Exit(tip: Point(x: frame.maxX, y: y), cell: cell(frame.maxX + 2 * step, y), isVertical: false),
        ]
        if isInheritance {
            let middle = frame.x + DiagramLayout.snapped(frame.width / 2)
            exits += [
                Exit(tip: Point(x: middle, y: frame.y), cell: cell(middle, frame.y - step * 3 / 2), isVertical: true),
                Exit(
                    tip: Point(x: middle, y: frame.maxY), cell: cell(middle, frame.maxY + step * 3 / 2),
                    isVertical: true),
            ]
        }
        return exits
    }

    private func cell(_ x: Int, _ y: Int) -> Int { (y - top) / Self.step * columns + (x - left) / Self.step }

    private func point(_ cell: Int) -> Point {
        Point(x: left + cell % columns * Self.step, y: top + cell / columns * Self.step)
    }

    // MARK: Search

    private static let cornerCost: Int32 = 28
    private static let crossingCost: Int32 = 22
    private static let sharingCost: Int32 = 260
    private static let besideCost: Int32 = 3

    private mutating func route(_ starts: [Exit], _ goals: [Exit], group: Int32) -> [Point] {
        search.begin()
        for exit in starts where !isBlocked[exit.cell] {
            search.offer(exit.cell * 2 + (exit.isVertical ? 1 : 0), from: -1, cost: 0, guess: guess(exit.cell, goals))
        }
        while let state = search.next() {
            let (current, isVertical) = (state / 2, state % 2 == 1)
            if let goal = goals.first(where: { $0.cell == current && $0.isVertical == isVertical }) {
                let cells = search.way(to: state).map { $0 / 2 }
                guard let first = cells.first, let start = starts.first(where: { $0.cell == first }) else { break }
                return corners([start.tip] + cells.map(point) + [goal.tip])
            }
            let cost = search.cost(state)
            // A turn is a separate step, so that the direction at the goal counts.
            search.offer(
                state ^ 1, from: state, cost: cost + Self.cornerCost + occupied(current, !isVertical, group),
                guess: guess(current, goals))
            for next in isVertical ? [current - columns, current + columns] : [current - 1, current + 1] {
                guard isInside(next, beside: current, isVertical), !isBlocked[next] else { continue }
                search.offer(
                    next * 2 + state % 2, from: state,
                    cost: cost + Int32(Self.step) + occupied(next, isVertical, group), guess: guess(next, goals))
            }
        }
        // Without a route, draw a straight line. This happens only for boxes without room around them.
        return [starts[0].tip, goals[0].tip]
    }

    private func isInside(_ next: Int, beside current: Int, _ isVertical: Bool) -> Bool {
        next >= 0 && next < columns * rows && (isVertical || next / columns == current / columns)
    }

    private func guess(_ cell: Int, _ goals: [Exit]) -> Int32 {
        let (x, y) = (cell % columns, cell / columns)
        let distances = goals.map { abs($0.cell % columns - x) + abs($0.cell / columns - y) }
        return Int32((distances.min() ?? 0) * Self.step)
    }

    /// Returns the cost of other edges through or next to a point.
    private func occupied(_ cell: Int, _ isVertical: Bool, _ group: Int32) -> Int32 {
        let (along, across) = isVertical ? (vertical, horizontal) : (horizontal, vertical)
        if along[cell] == group { return 0 }
        var cost: Int32 = 0
        if along[cell] != 0 { cost += Self.sharingCost }
        if across[cell] != 0, across[cell] != group { cost += Self.crossingCost }
        let beside = isVertical ? 1 : columns
        for neighbour in [cell - beside, cell + beside] where neighbour >= 0 && neighbour < along.count {
            if along[neighbour] != 0, along[neighbour] != group { cost += Self.besideCost }
        }
        return cost
    }

    // MARK: Marks

    private mutating func mark(_ paths: [[Point]], except index: Int) {
        for cell in horizontal.indices {
            horizontal[cell] = 0
            vertical[cell] = 0
        }
        for other in paths.indices where other != index { mark(paths[other], group(other)) }
    }

    private mutating func mark(_ path: [Point], _ group: Int32) {
        for (a, b) in zip(path, path.dropFirst()) {
            let isVertical = a.x == b.x
            guard isVertical || a.y == b.y else { continue }
            let cells = isVertical ? rowsBetween(a, b) : columnsBetween(a, b)
            for cell in cells where cell >= 0 && cell < horizontal.count {
                if isVertical {
                    vertical[cell] = vertical[cell] == 0 || vertical[cell] == group ? group : -1
                } else {
                    horizontal[cell] = horizontal[cell] == 0 || horizontal[cell] == group ? group : -1
                }
            }
        }
    }

    private func rowsBetween(_ a: Point, _ b: Point) -> [Int] {
        let column = (a.x - left) / Self.step
        let (low, high) = (min(a.y, b.y) - top, max(a.y, b.y) - top)
        return ((low + Self.step - 1) / Self.step...max(high / Self.step, (low + Self.step - 1) / Self.step))
            .map { $0 * columns + column }
    }

    private func columnsBetween(_ a: Point, _ b: Point) -> [Int] {
        let row = (a.y - top) / Self.step
        return ((min(a.x, b.x) - left) / Self.step...(max(a.x, b.x) - left) / Self.step).map { row * columns + $0 }
    }

    /// Removes the points inside straight stretches.
    private func corners(_ points: [Point]) -> [Point] {
        var result: [Point] = []
        for point in points where result.last != point {
            if result.count > 1 {
                let (a, b) = (result[result.count - 2], result[result.count - 1])
                if a.x == b.x && b.x == point.x || a.y == b.y && b.y == point.y { result.removeLast() }
            }
            result.append(point)
        }
        return result
    }
}

/// The open and closed states of a shortest-path search, reused between searches.
struct GridSearch {
    private var costs: [Int32]
    private var parents: [Int32]
    /// The search in which a state was last reached; entries of earlier searches are invalid.
    private var epochs: [Int32]
    private var isClosed: [Bool]
    private var epoch: Int32 = 0
    private var heap: [(key: Int32, state: Int32)] = []

    init(count: Int) {
        costs = Array(repeating: 0, count: count)
        parents = Array(repeating: -1, count: count)
        epochs = Array(repeating: 0, count: count)
        isClosed = Array(repeating: false, count: count)
    }

    mutating func begin() {
        epoch += 1
        heap.removeAll(keepingCapacity: true)
    }

    func cost(_ state: Int) -> Int32 { costs[state] }

    mutating func offer(_ state: Int, from parent: Int, cost: Int32, guess: Int32) {
        if epochs[state] == epoch, costs[state] <= cost || isClosed[state] { return }
        epochs[state] = epoch
        costs[state] = cost
        parents[state] = Int32(parent)
        isClosed[state] = false
        push((cost + guess, Int32(state)))
    }

    /// Returns the cheapest unvisited state.
    mutating func next() -> Int? {
        while let top = pop() {
            let state = Int(top.state)
            if isClosed[state], epochs[state] == epoch { continue }
            isClosed[state] = true
            return state
        }
        return nil
    }

    func way(to state: Int) -> [Int] {
        var way: [Int] = []
        var current = state
        while current >= 0 {
            way.append(current)
            current = Int(parents[current])
        }
        return way.reversed()
    }

    private mutating func push(_ item: (key: Int32, state: Int32)) {
        heap.append(item)
        var child = heap.count - 1
        while child > 0, heap[(child - 1) / 2].key > heap[child].key {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() -> (key: Int32, state: Int32)? {
        guard let first = heap.first else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first }
        heap[0] = last
        var parent = 0
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].key < heap[child].key { child += 1 }
            guard heap[child].key < heap[parent].key else { break }
            heap.swapAt(parent, child)
            parent = child
        }
        return first
    }
}
