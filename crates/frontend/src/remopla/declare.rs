//! Declarations: constants, enumerations, structures, and the variables that they make.

use rustc_hash::FxHashMap;
use wherefore_program::{Dimension, FileId, MAX_WIDTH, Scalar, Span, Type, Var, Variable};

use super::ast::{At, Bounds, Declaration, Declarator, Expr, ExprKind, Name, Operator, TypeSpec};
use crate::diagnostics::Reporter;

/// The width of an `int` where the file does not define `DEFAULT_INT_BITS`.
pub(super) const DEFAULT_WIDTH: u32 = 8;

/// More cells than this in one variable are refused.
const MAX_CELLS: u64 = 1 << 20;

/// An enumeration, by position.
pub(super) type EnumId = usize;

pub(super) struct Enumeration {
    pub(super) values: Vec<String>,
}

impl Enumeration {
    pub(super) fn width(&self) -> u32 {
        width_of(self.values.len().saturating_sub(1) as u64)
    }
}

/// How many bits a number needs: at least one.
pub(super) fn width_of(number: u64) -> u32 {
    (MAX_WIDTH - number.leading_zeros()).max(1)
}

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Entity {
    Constant(u64),
    EnumValue(EnumId, u64),
    Variable(Part),
    /// A structure, field by field. The fields of an array of structures are arrays.
    Struct {
        fields: Vec<(String, Part)>,
        dimensions: usize,
    },
}

/// A variable of the program, as the source sees it.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) var: Var,
    pub(super) ty: Type,
    pub(super) enumeration: Option<EnumId>,
}

/// A type without its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Scalar(Scalar, Option<EnumId>),
    Struct(String),
}

struct Field {
    name: Name,
    ty: Type,
    enumeration: Option<EnumId>,
}

/// All types and constants of a file.
#[derive(Default)]
pub(super) struct Types {
    pub(super) enumerations: Vec<Enumeration>,
    enum_names: FxHashMap<String, EnumId>,
    structs: FxHashMap<String, Vec<Field>>,
    pub(super) incomplete: bool,
}

pub(super) type Scope = FxHashMap<String, Entity>;

impl Types {
    /// No types yet. In an incomplete file, unknown names are not reported.
    pub(super) fn new(incomplete: bool) -> Self {
        Self { incomplete, ..Self::default() }
    }

    /// Adds the variables of a declaration to a list and their names to a scope.
    pub(super) fn declare(
        &mut self,
        declaration: &Declaration,
        scopes: &mut Scopes<'_>,
        variables: &mut Vec<Variable>,
        make: fn(u32) -> Var,
        reporter: &mut Reporter<'_>,
    ) {
        let Some(base) = self.base(&declaration.ty, scopes, reporter) else { return };
        for declarator in &declaration.declarators {
            let name = &declarator.name;
            let dimensions = self.dimensions(&declarator.dimensions, scopes, reporter);
            let mut add = |name: String, ty: Type, enumeration: Option<EnumId>, at: &At| {
                let var = make(variables.len() as u32);
                let value_names = enumeration.map(|id| self.enumerations[id].values.clone());
                let (span, shared) = (span(at), declaration.shared);
                variables.push(Variable {
                    name,
                    ty: ty.clone(),
                    value_names,
                    signed: false,
                    float: false,
                    pointer: false,
                    shared,
                    initial: None,
                    span,
                });
                Part { var, ty, enumeration }
            };
            let entity = match &base {
                Base::Scalar(scalar, enumeration) => {
                    let scalar = match (&declarator.width, &declaration.ty) {
                        (None, _) => *scalar,
                        (Some(width), TypeSpec::Int(None)) => Scalar::Bits(width_at(width, scopes, reporter)),
                        (Some(width), _) => {
                            reporter.error(width.at.clone(), "only an `int` has a width, and only one");
                            *scalar
                        }
                    };
                    let ty = array(scalar, dimensions);
                    Entity::Variable(add(name.text.clone(), ty, *enumeration, &name.at))
                }
                Base::Struct(structure) => {
                    if let Some(width) = &declarator.width {
                        reporter.error(width.at.clone(), "a structure has no width");
                    }
                    let outer = dimensions.len();
                    let fields = &self.structs[structure];
                    let nested = fields.iter().any(|field| !field.ty.dimensions().is_empty());
                    if outer > 0 && nested {
                        let message = "there are no arrays of structures that have arrays";
                        reporter.error(name.at.clone(), message);
                    }
                    let fields = fields.iter().map(|field| {
                        let ty = match &field.ty {
                            Type::Scalar(scalar) => array(*scalar, dimensions.clone()),
                            array => array.clone(),
                        };
                        let full = format!("{}.{}", name.text, field.name.text);
                        (field.name.text.clone(), add(full, ty, field.enumeration, &name.at))
                    });
                    Entity::Struct { fields: fields.collect(), dimensions: outer }
                }
            };
            scopes.add(name, entity, reporter);
        }
    }

    /// The type that a specification stands for; declares it if it says what it is.
    pub(super) fn base(
        &mut self,
        spec: &TypeSpec,
        scopes: &mut Scopes<'_>,
        reporter: &mut Reporter<'_>,
    ) -> Option<Base> {
        match spec {
            TypeSpec::Bool => Some(Base::Scalar(Scalar::Bool, None)),
            TypeSpec::Int(Some(width)) => {
                Some(Base::Scalar(Scalar::Bits(width_at(width, scopes, reporter)), None))
            }
            TypeSpec::Int(None) => {
                let width = match scopes.find("DEFAULT_INT_BITS") {
                    Some(Entity::Constant(width)) => *width as u32,
                    _ => DEFAULT_WIDTH,
                };
                Some(Base::Scalar(Scalar::Bits(width), None))
            }
            TypeSpec::Enum(name, values) => {
                if let Some(values) = values {
                    let id = self.enumerations.len();
                    if self.enum_names.insert(name.text.clone(), id).is_some() {
                        reporter
                            .error(name.at.clone(), format!("there is another enumeration `{}`", name.text));
                    }
                    for (value, constant) in values.iter().enumerate() {
                        scopes.add_constant(constant, Entity::EnumValue(id, value as u64), reporter);
                    }
                    let values = values.iter().map(|value| value.text.clone()).collect();
                    self.enumerations.push(Enumeration { values });
                }
                let Some(&id) = self.enum_names.get(&name.text) else {
                    reporter.error(name.at.clone(), format!("there is no enumeration `{}`", name.text));
                    return None;
                };
                Some(Base::Scalar(Scalar::Bits(self.enumerations[id].width()), Some(id)))
            }
            TypeSpec::Struct(name, fields) => {
                if let Some(declarations) = fields {
                    let fields = self.fields(declarations, scopes, reporter);
                    if self.structs.insert(name.text.clone(), fields).is_some() {
                        reporter
                            .error(name.at.clone(), format!("there is another structure `{}`", name.text));
                    }
                }
                if !self.structs.contains_key(&name.text) {
                    reporter.error(name.at.clone(), format!("there is no structure `{}`", name.text));
                    return None;
                }
                Some(Base::Struct(name.text.clone()))
            }
        }
    }

    fn fields(
        &mut self,
        declarations: &[Declaration],
        scopes: &mut Scopes<'_>,
        reporter: &mut Reporter<'_>,
    ) -> Vec<Field> {
        let mut fields: Vec<Field> = Vec::new();
        for declaration in declarations {
            let base = match &declaration.ty {
                TypeSpec::Struct(name, _) => {
                    reporter.error(name.at.clone(), "there are no structures inside structures");
                    continue;
                }
                ty => self.base(ty, scopes, reporter),
            };
            let Some(Base::Scalar(scalar, enumeration)) = base else { continue };
            for Declarator { name, dimensions, width } in &declaration.declarators {
                let scalar = match (width, &declaration.ty) {
                    (Some(width), TypeSpec::Int(None)) => Scalar::Bits(width_at(width, scopes, reporter)),
                    (Some(width), _) => {
                        reporter.error(width.at.clone(), "only an `int` has a width, and only one");
                        scalar
                    }
                    (None, _) => scalar,
                };
                let ty = array(scalar, self.dimensions(dimensions, scopes, reporter));
                if fields.iter().any(|field| field.name.text == name.text) {
                    reporter.error(name.at.clone(), format!("there is another field `{}`", name.text));
                }
                fields.push(Field { name: name.clone(), ty, enumeration });
            }
        }
        fields
    }

    fn dimensions(
        &self,
        bounds: &[Bounds],
        scopes: &Scopes<'_>,
        reporter: &mut Reporter<'_>,
    ) -> Vec<Dimension> {
        let mut dimensions = Vec::new();
        for bound in bounds {
            let first = constant(&bound.first, scopes, reporter).unwrap_or(1);
            let second =
                bound.second.as_ref().map(|second| constant(second, scopes, reporter).unwrap_or(first));
            let dimension = match second {
                None => Dimension { low: 0, length: first },
                Some(high) if high < first => Dimension { low: first, length: 0 },
                Some(high) => Dimension { low: first, length: (high - first).saturating_add(1) },
            };
            if dimension.length == 0 {
                reporter.error(bound.at.clone(), "the array has no elements");
                return Vec::new();
            }
            dimensions.push(dimension);
        }
        let cells = dimensions.iter().try_fold(1_u64, |cells, d| cells.checked_mul(d.length));
        if cells.is_none_or(|cells| cells > MAX_CELLS) {
            reporter.error(bounds[0].at.clone(), format!("an array has at most {MAX_CELLS} elements"));
            return Vec::new();
        }
        if bounds.len() > 2 {
            reporter.error(bounds[2].at.clone(), "an array has at most two dimensions");
            return Vec::new();
        }
        dimensions
    }
}

fn array(element: Scalar, dimensions: Vec<Dimension>) -> Type {
    if dimensions.is_empty() { Type::Scalar(element) } else { Type::Array { element, dimensions } }
}

pub(super) fn span(at: &At) -> Span {
    Span::new(FileId(0), at.start, at.end)
}

/// The names that are seen at a place.
pub(super) struct Scopes<'a> {
    pub(super) outer: Option<&'a Scope>,
    pub(super) inner: Scope,
}

impl Scopes<'_> {
    pub(super) fn find(&self, name: &str) -> Option<&Entity> {
        self.inner.get(name).or_else(|| self.outer?.get(name))
    }

    fn add(&mut self, name: &Name, entity: Entity, reporter: &mut Reporter<'_>) {
        if self.inner.insert(name.text.clone(), entity).is_some() {
            reporter.error(name.at.clone(), format!("`{}` is declared twice", name.text));
        }
    }

    pub(super) fn add_constant(&mut self, name: &Name, entity: Entity, reporter: &mut Reporter<'_>) {
        self.add(name, entity, reporter);
    }
}

fn width_at(width: &Expr, scopes: &Scopes<'_>, reporter: &mut Reporter<'_>) -> u32 {
    match constant(width, scopes, reporter) {
        Some(value @ 1..=64) => value as u32,
        Some(_) => {
            reporter.error(width.at.clone(), "a width is between 1 and 64");
            1
        }
        None => 1,
    }
}

/// The value of a constant expression, computed exactly; reports why there is none.
pub(super) fn constant(expr: &Expr, scopes: &Scopes<'_>, reporter: &mut Reporter<'_>) -> Option<u64> {
    match exact(expr, scopes) {
        Ok(value) => match u64::try_from(value) {
            Ok(value) => Some(value),
            Err(_) if value < 0 => {
                reporter.error(expr.at.clone(), "the constant is negative");
                None
            }
            Err(_) => {
                reporter.error(expr.at.clone(), "the constant is too large");
                None
            }
        },
        Err((at, message)) => {
            reporter.error(at, message);
            None
        }
    }
}

type Failed = (At, String);

fn exact(expr: &Expr, scopes: &Scopes<'_>) -> Result<i128, Failed> {
    let fail = |message: &str| Err((expr.at.clone(), message.to_owned()));
    match &expr.kind {
        ExprKind::Number(value) => Ok(i128::from(*value)),
        ExprKind::Reference(reference) if reference.is_name() => match scopes.find(&reference.name.text) {
            Some(Entity::Constant(value) | Entity::EnumValue(_, value)) => Ok(i128::from(*value)),
            Some(_) => fail("a constant is needed here"),
            None => Err((expr.at.clone(), format!("`{}` is not declared", reference.name.text))),
        },
        ExprKind::Binary(operator, left, right) => {
            let (a, b) = (exact(left, scopes)?, exact(right, scopes)?);
            match fold(*operator, a, b) {
                Some(value) => Ok(value),
                None => fail("the constant cannot be computed"),
            }
        }
        _ => fail("a constant is needed here"),
    }
}

/// The exact result of an operation on constants; none if there is none.
pub(super) fn fold(operator: Operator, a: i128, b: i128) -> Option<i128> {
    let shift = u32::try_from(b).ok().filter(|shift| *shift < 64);
    let value = match operator {
        Operator::Add => a.checked_add(b)?,
        Operator::Sub => a.checked_sub(b)?,
        Operator::Mul => a.checked_mul(b)?,
        Operator::Div => a.checked_div(b)?,
        Operator::Rem => a.checked_rem(b)?,
        Operator::Shl => a.checked_mul(1 << shift?)?,
        Operator::Shr => a >> shift?,
        Operator::BitAnd => a & b,
        Operator::BitOr => a | b,
        Operator::BitXor => a ^ b,
        _ => return None,
    };
    // Anything near 64 bits is fine on the way; beyond that it is a mistake.
    (value.unsigned_abs() < 1 << 100).then_some(value)
}
