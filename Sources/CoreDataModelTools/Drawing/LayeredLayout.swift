import CoreDataModel

/// Arranges connected boxes in columns, so that edges are short and cross rarely.
///
/// It tries several layerings: columns by distance from each box, to one or both sides. Each has four steps: columns,
/// order within the columns (barycentres), vertical positions (order-preserving means), and a cost. The cheapest
/// layering wins, the first one among equals, so the layout of a model is deterministic.
struct LayeredLayout {
    typealias Frame = DiagramScene.Frame

    private let sizes: [DiagramLayout.Size]
    /// The edges by indexes in the component, with the offsets of the ports from the boxes' tops.
    private let edges: [(a: Int, b: Int, portA: Int, portB: Int)]
    private let neighbours: [[(box: Int, own: Int, other: Int)]]

    init(diagram: ModelDiagram, sizes: [DiagramLayout.Size], boxes: [Int]) {
        let position = Dictionary(uniqueKeysWithValues: boxes.enumerated().map { ($0.element, $0.offset) })
        self.sizes = boxes.map { sizes[$0] }
        edges = diagram.edges.compactMap { edge in
            guard let a = position[edge.from.box], let b = position[edge.to.box] else { return nil }
            return (
                a, b, DiagramMetrics.portOffset(edge.from.row, in: diagram.boxes[edge.from.box]),
                DiagramMetrics.portOffset(edge.to.row, in: diagram.boxes[edge.to.box])
            )
        }
        var neighbours = [[(box: Int, own: Int, other: Int)]](repeating: [], count: boxes.count)
        for edge in edges where edge.a != edge.b {
            neighbours[edge.a].append((edge.b, edge.portA, edge.portB))
            neighbours[edge.b].append((edge.a, edge.portB, edge.portA))
        }
        self.neighbours = neighbours
    }

    func best() -> [Frame] {
        guard sizes.count > 1 else {
            return sizes.map { Frame(x: 0, y: DiagramMetrics.step / 2, width: $0.width, height: $0.height) }
        }
        let starts = sizes.indices.sorted { (-neighbours[$0].count, $0) < (-neighbours[$1].count, $1) }.prefix(24)
        var best: (cost: Double, frames: [Frame])?
        for start in starts {
            for (limit, isTwoSided) in heightLimits.flatMap({ [($0, false), ($0, true)] }) {
                var columns = columns(from: start, limit: limit, isTwoSided: isTwoSided)
                order(&columns)
                let frames = frames(columns)
                let cost = cost(frames)
                if cost < best?.cost ?? .infinity { best = (cost, frames) }
            }
        }
        return best?.frames ?? []
    }

    private static let gap = 40

    /// The height limits for columns: for an approximately square drawing, and some lower ones.
    private var heightLimits: [Int] {
        let tallest = sizes.map(\.height).max() ?? 0
        let area = sizes.reduce(0.0) { $0 + Double(($1.width + 110) * ($1.height + Self.gap)) }
        return [0.6, 0.8, 1.05].map { max(tallest, Int(area.squareRoot() * $0)) }
    }

    // MARK: Columns

    /// Groups the boxes by distance from `start`; a column that is too tall continues in the next.
    ///
    /// - Parameter isTwoSided: whether to divide the branches of `start` between its left and right side.
    private func columns(from start: Int, limit: Int, isTwoSided: Bool) -> [[Int]] {
        var distance = [Int?](repeating: nil, count: sizes.count)
        // The neighbour of the start through which each box was reached.
        var branch = Array(sizes.indices)
        distance[start] = 0
        var queue = [start]
        var next = 0
        while next < queue.count {
            let box = queue[next]
            next += 1
            for neighbour in neighbours[box] where distance[neighbour.box] == nil {
                distance[neighbour.box] = (distance[box] ?? 0) + 1
                if box != start { branch[neighbour.box] = branch[box] }
                queue.append(neighbour.box)
            }
        }
        let left = isTwoSided ? leftBranches(queue.dropFirst().map { (branch[$0], sizes[$0].height + Self.gap) }) : []
        let sides = [
            queue.dropFirst().filter { left.contains(branch[$0]) }, queue.filter { !left.contains(branch[$0]) },
        ]
        let columns = sides.map { side in
            Dictionary(grouping: side, by: { distance[$0] ?? 0 }).sorted { $0.key < $1.key }
                .flatMap { split($0.value, limit: limit) }
        }
        return columns[0].reversed() + columns[1]
    }

    /// Selects branches with half of the total height: the largest first, each to the emptier side.
    private func leftBranches(_ boxes: [(branch: Int, height: Int)]) -> Set<Int> {
        let heights = Dictionary(boxes.map { ($0.branch, $0.height) }, uniquingKeysWith: +)
        var (left, leftHeight, rightHeight) = (Set<Int>(), 0, 0)
        for (branch, height) in heights.sorted(by: { (-$0.value, $0.key) < (-$1.value, $1.key) }) {
            if leftHeight < rightHeight {
                left.insert(branch)
                leftHeight += height
            } else {
                rightHeight += height
            }
        }
        return left
    }

    private func split(_ layer: [Int], limit: Int) -> [[Int]] {
        var columns: [[Int]] = [[]]
        var height = 0
        for box in layer {
            if height > 0, height + sizes[box].height > limit {
                columns.append([])
                height = 0
            }
            columns[columns.count - 1].append(box)
            height += sizes[box].height + Self.gap
        }
        return columns
    }

    /// Sorts each column by the mean position of the connected boxes, forwards and backwards.
    private func order(_ columns: inout [[Int]]) {
        var middle = [Double](repeating: 0, count: sizes.count)
        func stack(_ column: [Int]) {
            var y = -column.reduce(0) { $0 + sizes[$1].height + Self.gap } / 2
            for box in column {
                middle[box] = Double(y)
                y += sizes[box].height + Self.gap
            }
        }
        columns.forEach(stack)
        for pass in 0..<8 {
            let indices = Array(columns.indices)
            for index in pass.isMultiple(of: 2) ? indices : indices.reversed() {
                let wanted = columns[index].map { box -> Double in
                    let others = neighbours[box]
                    guard !others.isEmpty else { return middle[box] }
                    return others.reduce(0) { $0 + middle[$1.box] + Double($1.other - $1.own) } / Double(others.count)
                }
                let sorted = columns[index].indices.sorted { (wanted[$0], $0) < (wanted[$1], $1) }
                columns[index] = sorted.map { columns[index][$0] }
                stack(columns[index])
            }
        }
    }

    // MARK: Positions

    private func frames(_ columns: [[Int]]) -> [Frame] {
        var column = [Int](repeating: 0, count: sizes.count)
        for (index, boxes) in columns.enumerated() { for box in boxes { column[box] = index } }
        let tops = tops(columns)
        let highest = tops.min() ?? 0
        var frames = [Frame](repeating: Frame(x: 0, y: 0, width: 0, height: 0), count: sizes.count)
        var x = 0
        for (index, boxes) in columns.enumerated() {
            let width = boxes.map { sizes[$0].width }.max() ?? 0
            for box in boxes {
                frames[box] = Frame(
                    x: x + DiagramLayout.snapped((width - sizes[box].width) / 2),
                    y: DiagramLayout.snapped(Int(tops[box] - highest)) + DiagramMetrics.step / 2,
                    width: sizes[box].width, height: sizes[box].height)
            }
            // Reserve a lane for each edge between this column and the next that passes.
            let passing = edges.count {
                min(column[$0.a], column[$0.b]) <= index && max(column[$0.a], column[$0.b]) > index
            }
            x += width + min(80 + passing * DiagramMetrics.step, 180)
        }
        return frames
    }

    /// Returns the tops of the boxes, each as close to its neighbours as the column's order allows.
    private func tops(_ columns: [[Int]]) -> [Double] {
        var tops = [Double](repeating: 0, count: sizes.count)
        for column in columns {
            var y = -Double(column.reduce(0) { $0 + sizes[$1].height + Self.gap }) / 2
            for box in column {
                tops[box] = y
                y += Double(sizes[box].height + Self.gap)
            }
        }
        for pass in 0..<12 {
            let indices = Array(columns.indices)
            for index in pass.isMultiple(of: 2) ? indices : indices.reversed() {
                let wanted = columns[index].map { box -> Double in
                    let others = neighbours[box]
                    guard !others.isEmpty else { return tops[box] }
                    return others.reduce(0) { $0 + tops[$1.box] + Double($1.other - $1.own) } / Double(others.count)
                }
                for (box, top) in zip(columns[index], apart(columns[index], wanted)) { tops[box] = top }
            }
        }
        return tops
    }

    /// Returns the positions closest to the wanted ones that keep the order and the gaps: colliding blocks move as one.
    private func apart(_ column: [Int], _ wanted: [Double]) -> [Double] {
        // Relative to a gapless stack, the positions must be non-decreasing.
        var offsets: [Double] = []
        var y = 0.0
        for box in column {
            offsets.append(y)
            y += Double(sizes[box].height + Self.gap)
        }
        var blocks: [(sum: Double, count: Int)] = []
        for (index, top) in wanted.enumerated() {
            blocks.append((top - offsets[index], 1))
            while blocks.count > 1 {
                let (last, before) = (blocks[blocks.count - 1], blocks[blocks.count - 2])
                guard before.sum / Double(before.count) > last.sum / Double(last.count) else { break }
                blocks.removeLast(2)
                blocks.append((before.sum + last.sum, before.count + last.count))
            }
        }
        let places = blocks.flatMap { block in [Double](repeating: block.sum / Double(block.count), count: block.count)
        }
        return zip(places, offsets).map { $0 + $1 }
    }

    // MARK: Cost

    /// Returns the cost: length of the edges, crossings, boxes on edges, and the difference to a page's aspect ratio.
    private func cost(_ frames: [Frame]) -> Double {
        let lines = edges.filter { $0.a != $0.b }.map { edge -> Line in
            let (a, b) = (frames[edge.a], frames[edge.b])
            let isRight = b.x >= a.maxX
            let isLeft = a.x >= b.maxX
            return Line(
                a: edge.a, b: edge.b, x1: Double(isLeft ? a.x : a.maxX), y1: Double(a.y + edge.portA),
                x2: Double(isRight ? b.x : b.maxX), y2: Double(b.y + edge.portB))
        }
        var cost = 0.0
        for (index, line) in lines.enumerated() {
            cost += abs(line.x1 - line.x2) + 1.3 * abs(line.y1 - line.y2)
            for other in lines[(index + 1)...] where line.crosses(other) { cost += 160 }
            for (box, frame) in frames.enumerated() where box != line.a && box != line.b && line.meets(frame) {
                cost += 220
            }
        }
        let width = Double(frames.map(\.maxX).max() ?? 1)
        let height = Double(frames.map(\.maxY).max() ?? 1)
        let ratio = max(width / height / 1.5, 1.5 * height / width)
        return (cost + 0.6 * (width + height)) * (1 + 0.12 * max(0, ratio - 1.4))
    }

    private struct Line {
        var a, b: Int
        var x1, y1, x2, y2: Double

        func crosses(_ other: Line) -> Bool {
            func side(_ line: Line, _ x: Double, _ y: Double) -> Double {
                (line.x2 - line.x1) * (y - line.y1) - (line.y2 - line.y1) * (x - line.x1)
            }
            return side(self, other.x1, other.y1) * side(self, other.x2, other.y2) < 0
                && side(other, x1, y1) * side(other, x2, y2) < 0
        }

        func meets(_ frame: Frame) -> Bool {
            // Clip the line to the frame's width, then compare the remaining heights.
            let (left, right) = (min(x1, x2), max(x1, x2))
            let from = max(left, Double(frame.x))
            let to = min(right, Double(frame.maxX))
            guard from < to else { return false }
            func y(_ x: Double) -> Double { y1 + (y2 - y1) * (x - x1) / (x2 - x1) }
            return max(y(from), y(to)) > Double(frame.y) && min(y(from), y(to)) < Double(frame.maxY)
        }
    }
}
